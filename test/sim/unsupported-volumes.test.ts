import { expect, it } from 'vitest';
import type { JournalEntry } from '../../src/model/journal/journal.js';
import { simulatedNode } from '../../src/tools/sim/simulated-node.js';
import { simulatedSource } from '../../src/tools/sim/node/simulated-source.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';
import type { WorldEvent } from '../../src/tools/sim/world/world-event.js';
import { explainWhy } from '../../src/tools/why/why.js';
import { aPod } from '../support/a-pod.js';

const CLAIM = { name: 'data', persistentVolumeClaim: { claimName: 'disk' } };
const SHARE = { name: 'share', nfs: { server: 's', path: '/' } };
const KINDS = {
  data: 'volumes of kind persistentVolumeClaim are not supported by this agent',
  share: 'volumes of kind nfs are not supported by this agent',
};
const POD = aPod({
  uid: 'u',
  name: 'db',
  spec: {
    volumes: [CLAIM, SHARE, { name: 'scratch', emptyDir: {} }, { name: 'unused', csi: { driver: 'd' } }],
    containers: [
      {
        ...{ name: 'main', image: 'db' },
        volumeMounts: ['data', 'share', 'scratch'].map((name) => ({ name, mountPath: `/${name}` })),
      },
      { name: 'side', image: 'side' },
    ],
  },
});

/** A node that wants the pod, five minutes later. */
const after5Minutes = (pod = POD) => {
  const events: WorldEvent[] = [];
  const tell = (event: WorldEvent): void => void events.push(event);
  const scheduler = new VirtualScheduler({ startMs: 0 });
  const file = simulatedSource('file', { scheduler, tell }, [pod]);
  const node = simulatedNode({ seed: 1, scheduler, sources: { file: file.event$ }, tell });
  node.start();
  scheduler.runUntil(300_000);
  const entries: readonly JournalEntry[] = events.flatMap((event) => (event.kind === 'journal' ? [event.entry] : []));
  return {
    status: node.pods().find(({ metadata }) => metadata.uid === 'u')?.status,
    entries,
    why: explainWhy({ entries, pod: 'db', now: node.wallClock() }),
    calls: events.flatMap((event) => (event.kind === 'call' ? [event.call] : [])),
    madeVolumes: events.filter(({ kind }) => kind === 'volume-made'),
    statuses: new Set(
      events.flatMap((event) =>
        event.kind === 'status' ? [JSON.stringify(event.pod?.status?.containerStatuses)] : [],
      ),
    ),
  };
};

it('a pod with volumes of kinds that are not supported starts nothing, and its status names each of them and its kind', () => {
  const { status, calls, madeVolumes } = after5Minutes();
  expect(calls.filter((call) => /^(RunPodSandbox|CreateContainer|StartContainer|PullImage)$/.test(call))).toEqual([]);
  expect(madeVolumes).toEqual([]);
  expect(status?.phase).toBe('Pending');
  const waits = (status?.containerStatuses ?? []).map(({ name, state }) => ({ name, ...state?.waiting }));
  expect(waits.map(({ name, reason }) => [name, reason])).toEqual([
    ['main', 'ContainerCreating'],
    ['side', 'ContainerCreating'],
  ]);
  for (const { message } of waits) {
    expect(message).toMatch(/^Unable to attach or mount volumes: unmounted volumes=\[data share\], /);
    for (const [name, problem] of Object.entries(KINDS)) expect(message).toMatch(new RegExp(`"${name}".*: ${problem}`));
    expect(message).not.toContain('unused');
  }
});

it('its init container waits with the reason of such a pod, and the same message', () => {
  const { status } = after5Minutes({ ...POD, spec: { ...POD.spec, initContainers: [{ name: 'first', image: 'i' }] } });
  const waiting = status?.initContainerStatuses?.[0]?.state?.waiting;
  expect(waiting?.reason).toBe('PodInitializing');
  expect(waiting?.message).toContain(KINDS.share);
});

it('its events and `why` name the volumes and their kinds', () => {
  const { entries, why } = after5Minutes();
  const events = entries.flatMap((entry) => (entry.kind === 'event' ? [`${entry.reason} ${entry.message}`] : []));
  expect(events.length).toBeGreaterThan(1);
  for (const event of events) {
    expect(event).toMatch(/^FailedMount Unable to attach or mount volumes: unmounted volumes=\[data share\]/);
    for (const problem of Object.values(KINDS)) expect(event).toContain(problem);
  }
  for (const [name, problem] of Object.entries(KINDS)) {
    expect(why).toContainEqual(
      expect.stringMatching(new RegExp(`^  the volume ${name} is not mounted for .*: ${problem}$`)),
    );
    expect(why).toContainEqual(expect.stringMatching(new RegExp(`ago +a sync failed: .*"${name}".*${problem}`)));
  }
});

it('its status stays the same from sync to sync', () => {
  const { statuses } = after5Minutes();
  expect(statuses.size).toBe(1);
});

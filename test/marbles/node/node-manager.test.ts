import { EMPTY, merge, NEVER, of } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import { noMetrics } from '../../../src/streams/ports/metrics.js';
import { nodeManager, type NodeManagerOptions } from '../../../src/streams/node/node-manager.js';
import type { NodeAgentEvent } from '../../../src/streams/ports/record-event.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { fakeNodeApi } from '../../support/fake-node-api.js';
import { aMachine, nodeSettings } from '../../support/node-object.js';
import { expectLanes, linesOf } from '../lanes.js';
import { marbles } from '../marbles.js';
import { at, quiet, runUntil } from './node-stage.js';

const aManager = (scheduler: TestScheduler, options: Partial<NodeManagerOptions> = {}, machine = aMachine) => {
  const fake = fakeNodeApi(scheduler);
  const events: NodeAgentEvent[] = [];
  const measured: Record<string, number> = {};
  let problems: readonly string[] = ['PLEG is not healthy: pleg has yet to be successful'];
  // The agent starts at 7 s of a day, on a machine that was started at 1 s.
  const wallClock = () => 7_000 + scheduler.now();
  const manager = nodeManager(
    {
      api: fake.api,
      client: apiClient(fake.api, { qps: -1, burst: 0, scheduler }),
      runtime: {
        updateRuntimeConfig: () => of({}),
        version: () => of({ version: '', runtimeName: 'containerd', runtimeVersion: '1.7', runtimeApiVersion: 'v1' }),
      },
      runtimeName: 'containerd',
      readMachine: () => of({ ...machine, bootedAt: 1_000 }),
      lookupHost: () => of([]),
      recordEvent: (event) => events.push(event),
      metrics: { ...noMetrics, nodeStartup: (part, seconds) => (measured[part] = seconds) },
      log: quiet,
      random: () => 0,
      scheduler,
      wallClock,
    },
    {
      settings: nodeSettings,
      registerNode: true,
      updateFrequencyMs: 10_000,
      reportFrequencyMs: 300_000,
      leaseDurationSeconds: 40,
      state: kubeletState(),
      health: { report: () => ({ problems }), read$: EMPTY },
      ...options,
    },
  );
  return { fake, events, measured, manager, become: (next: readonly string[]) => (problems = next) };
};

describe('the Node of an agent that starts', () => {
  it.each([
    ['swaps, and whose kernel cannot keep a tmpfs out of that', 1n, '6.3.9', ['PossibleMemoryBackedVolumesOnDisk']],
    ['swaps, and whose kernel can', 1n, '6.4.0', []],
    ['does not swap', 0n, '5.10.0', []],
  ] as const)('says so once if it is on a machine that %s', (_, swapBytes, kernelVersion, reasons) => {
    marbles(({ scheduler }) => {
      const { events, manager } = aManager(scheduler, {}, { ...aMachine, swapBytes, kernelVersion });
      runUntil(scheduler, manager.view$, 60_000);
      expect(events.map(({ reason }) => reason)).toEqual(['Starting', ...reasons]);
    })();
  });

  it(
    'is made, becomes ready and has a lease; the start is measured',
    marbles(({ scheduler }) => {
      const { fake, events, measured, manager, become } = aManager(scheduler);
      at(scheduler, 250, () => become([]));
      runUntil(scheduler, merge(manager.view$, manager.status$, manager.lease$), 5_000);
      expect(fake.history).toEqual([
        // The view, and a lease that has no owner yet.
        ...['0 GET nodes', '0 GET lease', '0 GET node'],
        ...['100 POST nodes', '300 PATCH status'],
      ]);
      expect(fake.node?.status?.conditions?.at(-1)).toMatchObject({ type: 'Ready', status: 'True' });
      expect(manager.node()).toEqual(fake.node);
      expect(events.map(({ reason, message, pod }) => [reason, message, pod])).toEqual([
        ['Starting', 'Starting kubelet.', undefined],
        ...['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'].map((reason) => [
          ...[reason, `Node node-1 status is now: ${reason}`, undefined],
        ]),
      ]);
      expect(measured).toEqual({
        ...{ 'pre-kubelet': 6, 'pre-registration': 0, registration: 0.1, 'post-registration': 0.2, total: 6.3 },
      });
    }),
  );

  it(
    'is created again after its deletion, and its lease with it',
    marbles(({ scheduler }) => {
      const { fake, manager, become } = aManager(scheduler);
      become([]);
      at(scheduler, 15_000, () => {
        fake.remove();
        fake.lease = undefined;
      });
      runUntil(scheduler, merge(manager.view$, manager.status$, manager.lease$), 25_000);
      const [made, again] = [fake.node?.metadata.uid, fake.history.filter((line) => line.endsWith('POST nodes'))];
      expect([made, again]).toEqual(['uid-2', ['100 POST nodes', '15100 POST nodes']]);
      expect(fake.lease).toMatchObject({ metadata: { ownerReferences: [{ uid: 'uid-2' }] } });
    }),
  );

  it(
    'is what the agent would make of it until the server has it, and then what the server has',
    marbles(({ scheduler }) => {
      const { fake, manager } = aManager(scheduler, { registerNode: false });
      expect(manager.node()).toBeUndefined();
      const seen: unknown[] = [];
      const followed: unknown[] = [];
      manager.node$.subscribe((node) => followed.push(node?.metadata.labels));
      at(scheduler, 50, () => seen.push(manager.node()?.metadata.labels?.['kubernetes.io/hostname']));
      at(scheduler, 60, () => fake.write({ metadata: { name: 'node-1', labels: { rack: '7' } } }));
      at(scheduler, 70, () => seen.push(manager.node()?.metadata.labels));
      runUntil(scheduler, merge(manager.view$, manager.status$, manager.lease$), 100);
      expect(seen[1]).toMatchObject({ rack: '7' });
      expect(seen[0]).toBe('node-1');
      expect(followed).toMatchObject([undefined, { 'kubernetes.io/hostname': 'node-1' }, { rack: '7' }]);
      expect(fake.history.some((line) => line.includes('POST nodes'))).toBe(false);
    }),
  );

  it(
    'cancels a heartbeat without an answer after 10 s',
    marbles(({ scheduler }) => {
      const { fake, manager, become } = aManager(scheduler);
      become([]);
      at(scheduler, 15_000, () => (fake.answer = () => NEVER));
      runUntil(scheduler, merge(manager.view$, manager.status$, manager.lease$), 45_000);
      // No reply comes from 15 s on. The next try follows at once.
      expectLanes(linesOf(fake.history, 'POST leases', 'PUT lease'), { everyMs: 1_000 }).toBe({
        'POST leases': '----------P------------------------------',
        'PUT lease': '  --------------------P---------P---------P',
      });
    }),
  );

  it(
    'lets pods of the API be believed once it was looked for',
    marbles(({ scheduler }) => {
      const { manager } = aManager(scheduler);
      let syncedAt: number | undefined;
      manager.synced$.subscribe(() => (syncedAt = scheduler.now()));
      expect(syncedAt).toBeUndefined();
      runUntil(scheduler, merge(manager.view$, manager.status$, manager.lease$), 1_000);
      expect(syncedAt).toBe(0);
    }),
  );
});

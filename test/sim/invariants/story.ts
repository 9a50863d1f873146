import type { JournalEntry, JournalEvent, NextStep } from '../../../src/model/journal/journal.js';
import type { ContainerStatus, Pod, PodStatus } from '../../../src/model/pod/pod.js';
import type { SimulatedInstance, WorldEvent } from '../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../support/a-pod.js';

/** Short words for what happens in a world, so that a story fits on the screen. Times are seconds. */
export const POD = aPod();
const REF = { uid: POD.metadata.uid, pod: POD.metadata.name, namespace: POD.metadata.namespace };

type Sketch = Partial<SimulatedInstance>;
const instance = (containerId: string, sketch: Sketch): SimulatedInstance => ({
  ...{ ...REF, container: 'main', containerId, sandboxId: 's1', attempt: 0, image: 'host' },
  ...sketch,
});

const ms = (seconds: number): number => Math.round(seconds * 1000);

export const created = (at: number, id: string, sketch: Sketch = {}): WorldEvent => ({
  ...{ kind: 'container-created', at: ms(at) },
  ...instance(id, sketch),
});
/** Created and started. */
export const started = (at: number, id: string, sketch: Sketch = {}): readonly WorldEvent[] => [
  created(at, id, sketch),
  { kind: 'container-started', at: ms(at), ...instance(id, sketch) },
];
export const exited = (at: number, id: string, exitCode = 0, sketch: Sketch = {}): WorldEvent => ({
  ...{ kind: 'container-exited', at: ms(at), exitCode },
  ...instance(id, sketch),
});
/** A boot after which the runtime shows the instance as created. */
export const startLost = (at: number, id: string, sketch: Sketch = {}): WorldEvent => ({
  ...{ kind: 'container-start-lost', at: ms(at) },
  ...instance(id, sketch),
});
export const removed = (at: number, id: string, sketch: Sketch = {}): WorldEvent => ({
  ...{ kind: 'container-removed', at: ms(at) },
  ...instance(id, sketch),
});
export const asked = (
  at: number,
  id: string,
  which: 'readiness' | 'startup' | 'liveness',
  ok = true,
  meantFor?: string,
): WorldEvent => ({
  ...{ kind: 'asked', at: ms(at), how: 'http', which, ok },
  ...(meantFor !== undefined && { meantFor }),
  ...instance(id, {}),
});
/** A command of a hook. */
export const hookEnded = (at: number, id: string, ok = true): WorldEvent => ({
  ...{ kind: 'asked', at: ms(at), how: 'exec', ok },
  ...instance(id, {}),
});
export const sandbox = (
  at: number,
  sandboxId: string,
  what: 'created' | 'stopped' | 'removed' = 'created',
): WorldEvent => ({ kind: `sandbox-${what}`, at: ms(at), ...REF, sandboxId, attempt: 0 });

export const agentStarted = (at: number, life = 1): WorldEvent => ({ kind: 'agent-started', at: ms(at), life });
export const agentKilled = (at: number, actionsLeft = 0, life = 1): WorldEvent => ({
  ...{ kind: 'agent-killed', at: ms(at), life, actionsLeft },
});
export const wanted = (at: number, ...pods: readonly Pod[]): WorldEvent => ({
  ...{ kind: 'wanted', at: ms(at), source: 'file', pods },
});
export const wantedByApi = (at: number, ...pods: readonly Pod[]): WorldEvent => ({
  ...{ kind: 'wanted', at: ms(at), source: 'api', pods },
});

let calls = 0;
/** Asked for and not answered. */
export const call = (at: number, name: string, request: object = {}): WorldEvent => ({
  ...{ kind: 'call', at: ms(at), number: ++calls, call: name, request },
});
/** Asked for and answered at once. */
export const answered = (at: number, name: string, request: object = {}, error?: string): readonly WorldEvent[] => {
  const asking = call(at, name, request);
  return [asking, { kind: 'call-ended', at: ms(at), number: calls, call: name, ...(error !== undefined && { error }) }];
};
const sandboxConfig = { metadata: { uid: REF.uid } };
export const runSandbox = (at: number): readonly WorldEvent[] =>
  answered(at, 'RunPodSandbox', { config: { metadata: { uid: REF.uid } } });
export const create = (at: number, container = 'main', image = 'host'): readonly WorldEvent[] =>
  answered(at, 'CreateContainer', {
    ...{ podSandboxId: 's1', sandboxConfig },
    config: { metadata: { name: container }, image: { userSpecifiedImage: image } },
  });
export const VOLUME = `/r/pods/${REF.uid}/volumes/kubernetes.io~empty-dir/data`;
export const volumeMade = (at: number, path: string): WorldEvent => ({
  ...{ kind: 'volume-made', at: ms(at), path, uid: REF.uid },
});
export const volumeGone = (at: number, path: string): WorldEvent => ({
  ...{ kind: 'volume-gone', at: ms(at), path, uid: REF.uid },
});
/** A container that mounts a volume, and a file of the agent. */
export const createWith = (at: number, path: string): readonly WorldEvent[] =>
  answered(at, 'CreateContainer', {
    ...{ podSandboxId: 's1', sandboxConfig },
    config: {
      metadata: { name: 'main' },
      image: { userSpecifiedImage: 'host' },
      mounts: [{ hostPath: path }, { hostPath: `/r/pods/${REF.uid}/etc-hosts` }],
    },
  });
export const stop = (at: number, containerId: string, seconds = 30): readonly WorldEvent[] =>
  answered(at, 'StopContainer', { containerId, timeout: BigInt(seconds) });
export const pull = (at: number, error?: string): readonly WorldEvent[] =>
  answered(at, 'PullImage', { sandboxConfig, image: { userSpecifiedImage: 'host' } }, error);

/** Of the image of `instance`. */
export const imageRemoved = (at: number): WorldEvent => ({ kind: 'image-removed', at: ms(at), names: ['host'] });
export const imagePulled = (at: number, wasThere = false): WorldEvent => ({
  ...{ kind: 'image-pulled', at: ms(at), image: 'host' },
  ...(wasThere && { wasThere }),
});

let entries = 0;
export const journal = (at: number, event: JournalEvent, rest: Partial<JournalEntry> = {}): WorldEvent => ({
  kind: 'journal',
  at: ms(at),
  entry: {
    ...{ id: `1-${++entries}`, at: ms(at), causes: [], pod: { uid: REF.uid, name: REF.pod, namespace: REF.namespace } },
    ...event,
    ...rest,
  } as JournalEntry,
});
export const pass = (
  at: number,
  work: 'sync' | 'terminating' | 'terminated' = 'sync',
  graceSeconds?: number,
): WorldEvent =>
  journal(at, { kind: 'sync-started', work, trigger: 'sync', ...(graceSeconds !== undefined && { graceSeconds }) });
export const passEnded = (
  at: number,
  work: 'sync' | 'terminating' | 'terminated' = 'sync',
  {
    next = { kind: 'resync', dueAt: ms(at) + 60_000 },
    error,
  }: { readonly next?: NextStep; readonly error?: string } = {},
): WorldEvent => journal(at, { kind: 'sync-ended', work, next, ...(error !== undefined && { error }) });
export const heard = (at: number, op: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE', graceSeconds?: number): WorldEvent =>
  journal(at, { kind: 'config', source: 'file', op, ...(graceSeconds !== undefined && { graceSeconds }) });
export const forgotten = (at: number): WorldEvent => journal(at, { kind: 'forgotten' });

export const running = (name: string, id: string, rest: Partial<ContainerStatus> = {}): ContainerStatus => ({
  ...{ name, image: 'host', imageID: 'host', ready: false, restartCount: 0, containerID: `sim://${id}` },
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  ...rest,
});
export const shown = (at: number, status: PodStatus, pod: Pod = POD): WorldEvent => ({
  ...{ kind: 'status', at: ms(at), uid: pod.metadata.uid },
  pod: { ...pod, status: { startTime: '2026-01-01T00:00:00Z', ...status } },
});

/** What happens, and, where the invariant is violated by it, a part of what is said of that. */
export type Row = readonly [what: string, story: readonly Told[], says?: string];
type Told = WorldEvent | readonly (WorldEvent | readonly WorldEvent[])[];
export type Rows = Readonly<Record<string, readonly Row[]>>;

/** Seconds of a quiet time that is long enough for everything. */
export const END = 1_000;
export const begin = [agentStarted(0), wanted(0, POD), heard(0, 'ADD')];
export const probed = aPod({
  spec: {
    containers: [
      { name: 'main', image: 'host', readinessProbe: { httpGet: { port: 80 }, successThreshold: 2, periodSeconds: 5 } },
    ],
  },
});
export const hooked = aPod({
  spec: {
    containers: [{ name: 'main', image: 'host', lifecycle: { postStart: { exec: { command: ['warm-up'] } } } }],
  },
});
export const never = aPod({ spec: { restartPolicy: 'Never' } });
export const onFailure = aPod({ spec: { restartPolicy: 'OnFailure' } });
export const withInit = aPod({ spec: { initContainers: [{ name: 'init', image: 'host' }] } });
export const withSidecar = aPod({
  spec: { initContainers: [{ name: 'side', image: 'host', restartPolicy: 'Always' }] },
});
/** One exit code starts all of it again. */
export const startedAgain = aPod({
  spec: {
    containers: [
      {
        ...{ name: 'main', image: 'host', restartPolicy: 'Never' },
        restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
      },
    ],
  },
});
export const other = aPod({ uid: 'uid-2' });
export const deleted = aPod({ source: 'api', deletionTimestamp: '2026-01-01T00:00:00Z' });
export const upToDate = [sandbox(1, 's1'), started(2, 'a'), pass(3), passEnded(4)];

import { of } from 'rxjs';
import { expect, it } from 'vitest';
import type { ImageStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { noPodCgroups } from '../../../src/streams/cgroups/pod-cgroups.js';
import { podWork } from '../../../src/streams/pod-workers/pod-work.js';
import { noProbes } from '../../../src/streams/probes/no-probes.js';
import type { PodRun } from '../../../src/streams/pod-workers/pod-workers.js';
import type { RuntimeReader } from '../../../src/streams/pleg/runtime-reader.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { fakePodReferences } from '../../support/fake-pod-references.js';
import { nodeFacts } from '../../support/node-facts.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../../marbles/marbles.js';

const image = { image: { id: 'host', uid: { value: 0n }, username: '' }, info: {} } as unknown as ImageStatusResponse;
const running = aRuntimeStatus([aContainer({ name: 'main' })]);
const nothing = aRuntimeStatus([], []);
const stopped = aRuntimeStatus(
  [aContainer({ name: 'main', state: 'exited', exitCode: 143, reason: 'Error', finishedAt: 2n })],
  [aSandbox({ state: 'SANDBOX_NOTREADY' })],
);

/** A worker that writes down, in one list, what is kept at hand and what the runtime is asked. */
const stageOf = (scheduler: Parameters<typeof syncStage>[1], networkProblem?: string) => {
  const did: string[] = [];
  const pod = aPod();
  const call =
    <T>(what: string, answer: T) =>
    () => {
      did.push(what);
      return of(answer);
    };
  const { context } = syncStage(pod, scheduler, {
    podReferences: fakePodReferences({ tell: (what) => did.push(what) }),
    images: { imageStatus: () => of(image) },
    runtime: {
      runPodSandbox: call('sandbox', { podSandboxId: 'fresh' }),
      podSandboxStatus: () => of({ status: aSandbox(), info: {}, containersStatuses: [], timestamp: 0n }),
      createContainer: call('create', { containerId: 'new' }),
      startContainer: call('start', {}),
      stopContainer: call('stop', {}),
      stopPodSandbox: call('stop sandbox', {}),
    },
  });
  const work = podWork({
    ...context.ports,
    reader: { podStatus: () => of(stopped), readyPodsCalled: () => of([]) } as unknown as RuntimeReader,
    podDirectories: { make: () => of() },
    podCgroups: noPodCgroups,
    probes: noProbes,
    state: kubeletState(),
    node: nodeFacts,
    runtimeName: 'fake',
    maxRestartBackOffMs: 300_000,
    networkProblem: () => networkProblem,
    relistSoon: () => undefined,
  });
  const run = (status: RuntimePodStatus): PodRun => ({
    ...{ uid: 'uid-1', work: 'sync', type: 'sync', isFirst: true, lastSyncAt: 0, causes: ['why'], pod, status },
  });
  return {
    did,
    sync: (status: RuntimePodStatus, signal = new AbortController().signal) =>
      work.syncPod(run(status), signal).subscribe({ error: () => did.push('failed') }),
    terminating: () => work.syncTerminatingPod({ ...run(running), work: 'terminating' }).subscribe(),
    terminated: () =>
      work.syncTerminatedPod({ ...run(stopped), work: 'terminated' }, new AbortController().signal).subscribe(),
  };
};

it(
  'what a pod refers to is kept at hand before anything of it is made, and until it is over',
  marbles(({ scheduler }) => {
    const stage = stageOf(scheduler);
    stage.sync(nothing);
    stage.sync(running);
    expect(stage.did).toEqual(['register uid-1', 'sandbox', 'create', 'start', 'register uid-1']);
    stage.did.length = 0;
    stage.terminating();
    expect(stage.did).toEqual(['stop', 'stop sandbox']);
    stage.terminated();
    expect(stage.did).toEqual(['stop', 'stop sandbox', 'unregister uid-1']);
  }),
);

it(
  'nothing is kept at hand for a pod without its network, nor by a cancelled sync',
  marbles(({ scheduler }) => {
    const offline = stageOf(scheduler, 'not yet');
    offline.sync(nothing);
    expect(offline.did).toEqual(['failed']);
    const stage = stageOf(scheduler);
    stage.sync(nothing, AbortSignal.abort());
    expect(stage.did).not.toContain('register uid-1');
  }),
);

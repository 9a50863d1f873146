import { catchError, concat, ignoreElements, map, type Observable, of, type SchedulerLike, tap, timer } from 'rxjs';
import { expect, it } from 'vitest';
import type { ImageStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { type PodCgroups, podCgroups } from '../../../src/streams/cgroups/pod-cgroups.js';
import { podWork, type PodWorkPorts } from '../../../src/streams/pod-workers/pod-work.js';
import { noProbes } from '../../../src/streams/probes/no-probes.js';
import type { PodRun } from '../../../src/streams/pod-workers/pod-workers.js';
import type { RuntimeReader } from '../../../src/streams/pleg/runtime-reader.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { nodeFacts } from '../../support/node-facts.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const PATH = '/kubepods/besteffort/poduid-1';
const image = { image: { id: 'host', uid: { value: 0n }, username: '' }, info: {} } as unknown as ImageStatusResponse;
const running = aRuntimeStatus([aContainer({ name: 'main' })]);
const nothing = aRuntimeStatus([], []);
const stopped = aRuntimeStatus(
  [aContainer({ name: 'main', state: 'exited', exitCode: 143, reason: 'Error', finishedAt: 2n })],
  [aSandbox({ state: 'SANDBOX_NOTREADY' })],
);

/** A worker over a runtime and cgroups that write down what they are asked, in one list. */
const stageOf = (scheduler: SchedulerLike, existing: readonly string[] = []) => {
  const pod = aPod();
  const fake = fakeCgroups(scheduler, existing);
  const called =
    <T>(what: string, answer: T) =>
    (): Observable<T> =>
      of(answer).pipe(tap(() => fake.did.push(what)));
  const parents: (string | undefined)[] = [];
  const stage = syncStage(pod, scheduler, {
    images: { imageStatus: () => of(image) },
    runtime: {
      runPodSandbox: ({ config }) => {
        parents.push(config?.linux?.cgroupParent);
        return called('sandbox', { podSandboxId: 'fresh' })();
      },
      podSandboxStatus: () => of({ status: aSandbox(), info: {}, containersStatuses: [], timestamp: 0n }),
      createContainer: called('create', { containerId: 'new' }),
      startContainer: called('start', {}),
      stopContainer: called('stop', {}),
      stopPodSandbox: called('stop sandbox', {}),
    },
  });
  const own: PodCgroups = podCgroups({
    cgroups: fake.cgroups,
    settings: { root: [], podPidsLimit: -1 },
    node: nodeFacts,
    activePods: () => [pod],
    log: stage.context.ports.log,
    scheduler,
  });
  const relists: string[] = [];
  const state = kubeletState();
  const ports: PodWorkPorts = {
    ...stage.context.ports,
    reader: { podStatus: () => of(stopped), readyPodsCalled: () => of([]) } as unknown as RuntimeReader,
    podDirectories: { make: () => timer(0, scheduler).pipe(ignoreElements(), tapComplete(fake.did, 'directories')) },
    podCgroups: own,
    probes: noProbes,
    state,
    node: nodeFacts,
    runtimeName: 'fake',
    maxRestartBackOffMs: 300_000,
    networkProblem: () => undefined,
    relistSoon: (uid) => relists.push(uid),
  };
  const run = (status: RuntimePodStatus): PodRun => ({
    ...{ uid: 'uid-1', work: 'sync', type: 'sync', isFirst: true, lastSyncAt: 0, causes: ['why'], pod, status },
  });
  const work = podWork(ports);
  const said = (work$: Observable<unknown>) => work$.pipe(catchError((error: unknown) => of(String(error))));
  return {
    ...{ ...fake, parents, relists, state },
    events: stage.events,
    sync: (status: RuntimePodStatus) =>
      said(work.syncPod(run(status), new AbortController().signal).pipe(map(({ isTerminal }) => isTerminal))),
    terminating: (status: RuntimePodStatus) => said(work.syncTerminatingPod({ ...run(status), work: 'terminating' })),
    terminated: () =>
      said(work.syncTerminatedPod({ ...run(stopped), work: 'terminated' }, new AbortController().signal)),
  };
};

const tapComplete = (log: string[], what: string) => tap<never>({ complete: () => void log.push(what) });

it(
  'a pod gets its cgroup after its class was weighed and before everything else, and the runtime receives it',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler);
    expectObservable(stage.sync(nothing)).toBe('(f|)', { f: false });
    flush();
    expect(stage.did).toEqual([
      '0 update /kubepods/burstable',
      '0 update /kubepods/besteffort',
      `0 create ${PATH}`,
      'directories',
      'sandbox',
      'create',
      'start',
    ]);
    expect(stage.parents).toEqual([PATH]);
  }),
);

it(
  'a pod whose cgroup has gone is killed in one sync and built up in a later one, which is asked for at once',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler);
    expectObservable(stage.sync(running)).toBe('(f|)', { f: false });
    flush();
    expect(stage.did.slice(0, 2)).toEqual(['stop', 'stop sandbox']);
    expect(stage.did.filter((line) => /create|start|sandbox$/.test(line))).toEqual(['stop sandbox']);
    expect(stage.relists).toEqual(['uid-1']);
    expectObservable(stage.sync(nothing)).toBe('(f|)', { f: false });
    flush();
    expect(stage.there.has(PATH)).toBe(true);
    expect(stage.did.slice(-1)).toEqual(['start']);
  }),
);

it(
  'without its cgroup a pod gets no sandbox',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler);
    stage.failures.set(`create ${PATH}`, ['EROFS']);
    expectObservable(stage.sync(nothing)).toBe('(e|)', {
      e:
        'PodSyncError: failed to ensure that the pod: uid-1 cgroups exist and are correctly applied: failed to create ' +
        'container for [kubepods besteffort poduid-1] : EROFS',
    });
    flush();
    expect(stage.parents).toEqual([]);
    expect(stage.events).toEqual([expect.stringMatching(/^FailedCreatePodContainer unable to ensure/)]);
  }),
);

it(
  'after a pod was killed its class is weighed',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, [PATH]);
    expectObservable(stage.terminating(running)).toBe('|');
    flush();
    expect(stage.did).toEqual([
      'stop',
      'stop sandbox',
      '0 update /kubepods/burstable',
      '0 update /kubepods/besteffort',
    ]);
    expect(stage.there.has(PATH)).toBe(true);
  }),
);

it(
  'a pod is over once its cgroup is gone, and not before',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, [PATH]);
    stage.failures.set(`remove ${PATH}`, Array<string>(5).fill('EBUSY'));
    const isFinished = () => stage.state.statuses.stored('uid-1')?.isFinished;
    const again$ = stage.terminated();
    expectObservable(concat(stage.terminated(), again$)).toBe('300ms (e|)', { e: 'Error: EBUSY' });
    let before: boolean | undefined;
    scheduler.schedule(() => (before = isFinished()), 299);
    flush();
    expect(stage.there.has(PATH)).toBe(false);
    expect([before, isFinished()]).toEqual([false, true]);
  }),
);

import { catchError, EMPTY, of, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { podCgroups } from '../../../src/streams/cgroups/pod-cgroups.js';
import { ensurePodCgroup } from '../../../src/streams/pod-sync/ensure-pod-cgroup.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../../marbles/marbles.js';

const PATH = '/kubepods/besteffort/poduid-1';
const running = aRuntimeStatus([aContainer({ name: 'main' })]);
const nothing = aRuntimeStatus([], []);

const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  {
    existing = [],
    stopContainer = () => of({}),
    signal,
  }: {
    readonly existing?: readonly string[];
    readonly stopContainer?: RuntimeService['stopContainer'];
    readonly signal?: AbortSignal;
  } = {},
) => {
  const fake = fakeCgroups(scheduler, existing);
  const pod = aPod();
  const stage = syncStage(pod, scheduler, {
    signal,
    runtime: {
      stopContainer: (request) => {
        fake.did.push('stop');
        return stopContainer(request);
      },
      stopPodSandbox: () => of({}),
    },
  });
  const { log } = stage.context.ports;
  const own = podCgroups({
    cgroups: fake.cgroups,
    settings: { root: [], podPidsLimit: -1 },
    node: { cpuCfsQuota: true, cpuCfsQuotaPeriodMicros: 100_000 },
    activePods: () => [pod],
    log,
    scheduler,
  });
  const ensure = (status: typeof running) =>
    ensurePodCgroup(stage.context, own, status).pipe(catchError((error: unknown) => of(String(error))));
  return { ...fake, ...stage, ensure };
};

it(
  'a pod of which nothing runs gets its cgroup',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler);
    expectObservable(stage.ensure(nothing)).toBe('(r|)', { r: 'ready' });
    flush();
    expect(stage.there.has(PATH)).toBe(true);
    expect(stage.events).toEqual([]);
  }),
);

it(
  'a pod that runs in its cgroup is left alone',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, { existing: [PATH] });
    expectObservable(stage.ensure(running)).toBe('(r|)', { r: 'ready' });
    flush();
    expect(stage.did).toEqual([]);
  }),
);

it(
  'a pod that runs without its cgroup is killed, and gets none before it is seen stopped',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler);
    expectObservable(stage.ensure(running)).toBe('(k|)', { k: 'killed' });
    flush();
    expect(stage.did).toEqual(['stop', '0 update /kubepods/burstable', '0 update /kubepods/besteffort']);
    expect(stage.there.has(PATH)).toBe(false);
  }),
);

it(
  'one that cannot be killed is an error, so that the kill is tried again',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stopContainer = () => throwError(() => new Error('busy'));
    const stage = stageOf(scheduler, { stopContainer });
    expectObservable(stage.ensure(running)).toBe('(e|)', {
      e: 'PodSyncError: container "main": KillContainerError: busy',
    });
    flush();
    expect(stage.events.filter((event) => event.startsWith('FailedKillPod'))).toHaveLength(1);
    expect(stage.did).toEqual(['stop']);
  }),
);

it(
  'a cgroup that cannot be made is reported with an event',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler);
    stage.failures.set(`create ${PATH}`, ['EROFS']);
    const problem = 'failed to create container for [kubepods besteffort poduid-1] : EROFS';
    expectObservable(stage.ensure(nothing)).toBe('(e|)', {
      e: `PodSyncError: failed to ensure that the pod: uid-1 cgroups exist and are correctly applied: ${problem}`,
    });
    flush();
    expect(stage.events).toEqual([`FailedCreatePodContainer unable to ensure pod container exists: ${problem}`]);
  }),
);

it(
  'a cancelled sync kills nothing',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, { signal: AbortSignal.abort(), stopContainer: () => EMPTY });
    expectObservable(stage.ensure(running)).toBe('(e|)', {
      e: 'SyncCancelled: the run was cancelled by a newer update',
    });
    flush();
    expect(stage.did).toEqual([]);
  }),
);

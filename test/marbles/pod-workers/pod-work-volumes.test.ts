import { defer, ignoreElements, type Observable, of, throwError, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import { CreateContainerConfigError } from '../../../src/model/cri/create-container-config-error.js';
import type { PodVolumes } from '../../../src/streams/volumes/pod-volumes.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { fakePodReferences } from '../../support/fake-pod-references.js';
import { podWorkStage, stopped } from '../../support/pod-work-stage.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const nothing = aRuntimeStatus([], []);
const running = aRuntimeStatus([aContainer({ name: 'main', id: 'main-id' })], [aSandbox()]);

/** A worker whose volumes take some time, in one history with what the runtime is asked. */
const stageOf = (
  scheduler: TestScheduler,
  given: { mountMs?: number; unmount?: string; mountsOf?: PodVolumes['mountsOf']; create?: string },
) => {
  const history: string[] = [];
  const say = (what: string): void => void history.push(`${scheduler.now()} ${what}`);
  const took = (what: string, ms: number): Observable<never> =>
    defer(() => {
      say(what);
      return timer(ms, scheduler).pipe(ignoreElements());
    });
  const volumes: PodVolumes = {
    mount: () => took('mount', given.mountMs ?? 0),
    envFiles: () => of(new Map()),
    mountsOf: given.mountsOf ?? (() => of([{ containerPath: '/data', hostPath: '/r/data' }])),
    leave: (uid) => say(`leave ${uid}`),
    unmount: () => (given.unmount === undefined ? took('unmount', 300) : throwError(() => new Error(given.unmount))),
  };
  const stage = podWorkStage(scheduler, {
    volumes,
    podReferences: fakePodReferences({ tell: say }),
    runtime: {
      stopContainer: ({ containerId }) => {
        say(`stop ${containerId}`);
        return of({});
      },
      createContainer: ({ config }) => {
        say(`create with ${config?.mounts?.map(({ containerPath }) => containerPath).join()}`);
        return given.create === undefined ? of({ containerId: 'new' }) : throwError(() => new Error(given.create));
      },
    },
  });
  return { ...stage, history };
};

it(
  'a pod waits for its volumes before its first container, which mounts them',
  marbles(({ scheduler, flush }) => {
    const { sync, history, results } = stageOf(scheduler, { mountMs: 500 });
    sync(nothing);
    flush();
    expectLanes(history, { everyMs: 100 }).toBe('(rm)----c', {
      r: 'register uid-1',
      m: 'mount',
      c: 'create with /data,/etc/hosts',
    });
    expect(results).toEqual(['done', '|']);
  }),
);

it(
  'a worker that has to stop ends its wait for volumes at once',
  marbles(({ scheduler, flush }) => {
    const { work, run, play, history, results } = stageOf(scheduler, { mountMs: 1_000_000 });
    const abort = new AbortController();
    play(work.syncPod(run(nothing), abort.signal));
    scheduler.schedule(() => abort.abort(), 700);
    scheduler.maxFrames = 800;
    flush();
    expect(results).toEqual([expect.stringContaining('SyncCancelled'), '|']);
    expect(history.filter((line) => line.includes('create'))).toEqual([]);
  }),
);

it(
  'a wait for volumes that takes 10 s is reported in the journal and in the status',
  marbles(({ scheduler, flush }) => {
    const { sync, records, state } = stageOf(scheduler, { mountMs: 20_000 });
    sync(nothing);
    let message: string | undefined;
    scheduler.schedule(() => {
      message = state.statuses.get('uid-1')?.containerStatuses?.[0]?.state?.waiting?.message;
    }, 10_001);
    flush();
    expect(message).toBe('MountVolumes has not returned for 10 s');
    expect(records.filter(({ kind }) => kind === 'call-slow')).toMatchObject([
      { call: 'MountVolumes', waitedMs: 10_000 },
    ]);
  }),
);

it(
  'a container whose volume cannot be mounted is not created, and says why',
  marbles(({ scheduler, flush }) => {
    const { sync, results, history } = stageOf(scheduler, {
      mountsOf: () =>
        throwError(() => new CreateContainerConfigError('cannot find volume "x" to mount into container "main"')),
    });
    sync(nothing);
    flush();
    expect(results[0]).toContain('CreateContainerConfigError: cannot find volume "x" to mount into container "main"');
    expect(history.filter((line) => line.includes('create'))).toEqual([]);
  }),
);

it(
  'a container with an image volume that the runtime refuses says so',
  marbles(({ scheduler, flush }) => {
    const { sync, results } = stageOf(scheduler, {
      create: 'failed to mkdir ""',
      mountsOf: () => of([{ containerPath: '/web', image: { image: 'sha256:2', userSpecifiedImage: 'web:1' } }]),
    });
    sync(nothing);
    flush();
    expect(results[0]).toContain('failed to mkdir "" (the container mounts an image volume, web:1 at /web:');
  }),
);

it(
  'a pod that ends leaves its volumes as they are before its containers are stopped',
  marbles(({ scheduler, flush }) => {
    const { work, run, play, history } = stageOf(scheduler, {});
    play(work.syncTerminatingPod(run(running, { work: 'terminating' })));
    flush();
    expectLanes(history, { everyMs: 100 }).toBe('(ls)', { l: 'leave uid-1', s: 'stop main-id' });
  }),
);

it(
  'the objects of a pod are released after its volumes are gone, and the pod is over then',
  marbles(({ scheduler, flush }) => {
    const { work, run, play, history, state } = stageOf(scheduler, {});
    play(work.syncTerminatedPod(run(stopped, { work: 'terminated' }), new AbortController().signal));
    let before: boolean | undefined;
    scheduler.schedule(() => (before = state.statuses.stored('uid-1')?.isFinished), 299);
    flush();
    expectLanes(history, { everyMs: 100 }).toBe('u--r', { u: 'unmount', r: 'unregister uid-1' });
    expect([before, state.statuses.stored('uid-1')?.isFinished]).toEqual([false, true]);
  }),
);

it(
  'a pod whose volumes stay is not over, and keeps its objects',
  marbles(({ scheduler, flush }) => {
    const { work, run, play, history, state, results } = stageOf(scheduler, {
      unmount: 'mounted volumes=[data]: no',
    });
    play(work.syncTerminatedPod(run(stopped, { work: 'terminated' }), new AbortController().signal));
    flush();
    expect(results).toEqual(['Error: mounted volumes=[data]: no', '|']);
    expect(history).toEqual([]);
    expect(state.statuses.stored('uid-1')?.isFinished).toBe(false);
  }),
);

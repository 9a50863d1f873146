import { catchError, EMPTY, of, tap, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { killPod } from '../../../src/streams/pod-sync/kill-pod.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { syncStage } from '../../support/sync-context.js';
import { inTurn, marbles } from '../marbles.js';

const withSidecars = aPod({
  spec: {
    initContainers: [
      { name: 'setup', image: 'host' },
      { name: 'proxy', image: 'host', restartPolicy: 'Always' },
      { name: 'logs', image: 'host', restartPolicy: 'Always' },
    ],
    containers: [
      { name: 'one', image: 'host' },
      { name: 'two', image: 'host' },
    ],
  },
});
const running = (...names: readonly string[]) => names.map((name) => aContainer({ name }));

it(
  'stops regular containers side by side, then sidecars from the last to the first, then the sandboxes',
  marbles(({ cold, expectObservable, scheduler }) => {
    const timeline: string[] = [];
    const mark = (what: string) => tap<object>({ subscribe: () => timeline.push(`${scheduler.now()} ${what}`) });
    const takes: Readonly<Record<string, string>> = {
      'id-one': '--(x|)',
      'id-two': '----(x|)',
      'id-logs': '---(x|)',
      'id-proxy': '-(x|)',
    };
    const { context } = syncStage(withSidecars, scheduler, {
      runtime: {
        stopContainer: ({ containerId = '' }) =>
          cold<object>(takes[containerId] ?? '#', { x: {} }).pipe(mark(containerId)),
        stopPodSandbox: ({ podSandboxId = '' }) => cold<object>('-(x|)', { x: {} }).pipe(mark(podSandboxId)),
      },
    });
    const status = aRuntimeStatus(running('proxy', 'one', 'two', 'logs'), [aSandbox(), aSandbox({ id: 'older' })]);
    expectObservable(killPod(context, status)).toBe('----------|');
    scheduler.schedule(
      () => expect(timeline).toEqual(['0 id-one', '0 id-two', '4 id-logs', '7 id-proxy', '8 sandbox', '9 older']),
      20,
    );
  }),
);

it(
  'lets a sidecar go when its grace period is over, though the containers before it still stop',
  marbles(({ cold, expectObservable, scheduler }) => {
    const stops: string[] = [];
    const { context } = syncStage(withSidecars, scheduler, {
      runtime: {
        stopContainer: ({ containerId, timeout }) => {
          stops.push(`${scheduler.now()} ${containerId} ${String(timeout)}`);
          return containerId === 'id-one' ? cold<object>('10s (x|)', { x: {} }) : cold<object>('(x|)', { x: {} });
        },
      },
    });
    expectObservable(killPod(context, aRuntimeStatus(running('one', 'logs'), []), 5)).toBe('10s |');
    scheduler.schedule(() => expect(stops).toEqual(['0 id-one 5', '5000 id-logs 2']), 11_000);
  }),
);

it(
  'stops a container of an unknown state, which may run',
  marbles(({ cold, expectObservable, scheduler }) => {
    const stops: string[] = [];
    const { context } = syncStage(aPod(), scheduler, {
      runtime: {
        stopContainer: ({ containerId = '' }) => {
          stops.push(containerId);
          return cold<object>('-(x|)', { x: {} });
        },
      },
    });
    const status = aRuntimeStatus([aContainer({ name: 'main', state: 'unknown' })], []);
    expectObservable(killPod(context, status)).toBe('-|');
    scheduler.schedule(() => expect(stops).toEqual(['id-main']), 2);
  }),
);

it(
  'leaves containers alone that do not run',
  marbles(({ expectObservable, scheduler }) => {
    const { context, events } = syncStage(aPod(), scheduler, { runtime: { stopPodSandbox: () => EMPTY } });
    const status = aRuntimeStatus([
      aContainer({ name: 'main', state: 'created' }),
      aContainer({ name: 'main', state: 'exited' }),
    ]);
    expectObservable(killPod(context, status)).toBe('|');
    scheduler.schedule(() => expect(events).toEqual([]), 5);
  }),
);

it(
  'tries everything, then errors with all that went wrong',
  marbles(({ cold, expectObservable, scheduler }) => {
    const failure = new CriError('unavailable', 'StopContainer', 'the runtime is away');
    const stop$ = inTurn<object>(cold('--#', undefined, failure), cold('---(x|)', { x: {} }));
    const { context } = syncStage(withSidecars, scheduler, {
      runtime: {
        stopContainer: () => stop$,
        stopPodSandbox: ({ podSandboxId }) =>
          podSandboxId === 'gone'
            ? throwError(() => new CriError('not-found', 'StopPodSandbox', 'no such sandbox'))
            : throwError(() => new CriError('other', 'StopPodSandbox', 'busy')),
      },
    });
    const status = aRuntimeStatus(running('one', 'two'), [aSandbox({ id: 'gone' }), aSandbox()]);
    const message$ = killPod(context, status).pipe(catchError((error: unknown) => of(String(error))));
    expectObservable(message$).toBe('---(m|)', {
      m: 'PodSyncError: [container "one": KillContainerError: the runtime is away, KillPodSandboxError: sandbox sandbox: busy]',
    });
  }),
);

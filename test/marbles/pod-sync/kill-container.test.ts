import { EMPTY, map, NEVER, type Observable, of, tap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { urlOf } from '../../../src/model/config/http-get.js';
import type { Container } from '../../../src/model/pod/pod.js';
import {
  type ContainerKill,
  killContainer,
  naturalGraceSeconds,
} from '../../../src/streams/pod-sync/kill-container.js';
import { aPod } from '../../support/a-pod.js';
import { syncStage } from '../../support/sync-context.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const hooked = (preStop: NonNullable<Container['lifecycle']>['preStop']): Container => ({
  name: 'main',
  image: 'host',
  lifecycle: { preStop },
});

/** Kills `main` of a pod with 30 s of grace and shows when it is stopped, with how many seconds left. */
const stops = (
  scheduler: Parameters<typeof syncStage>[1],
  kill: Partial<ContainerKill>,
  exec$: Observable<unknown> = NEVER,
) => {
  const calls: string[] = [];
  const stage = syncStage(aPod(), scheduler, {
    runtime: {
      stopContainer: ({ timeout }) => of({}).pipe(tap(() => calls.push(`${scheduler.now()} stop ${String(timeout)}`))),
      execSync: () =>
        exec$.pipe(
          map((exitCode) => ({ exitCode: Number(exitCode), stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })),
        ),
    },
  });
  return { calls, stage, kill$: killContainer(stage.context, { id: 'id', name: 'main', ...kill }) };
};

describe('the time a container gets to stop', () => {
  it.each<{ case: string; kill: Partial<ContainerKill>; stop: string; seconds: number }>([
    { case: 'what the pod asks for', kill: {}, stop: 's', seconds: 30 },
    { case: 'an override', kill: { graceSeconds: 7 }, stop: 's', seconds: 7 },
    { case: 'never below 2 s, with any override', kill: { graceSeconds: 0 }, stop: 's', seconds: 2 },
    {
      case: 'less what the preStop hook used',
      kill: { container: hooked({ sleep: { seconds: 4 } }) },
      stop: '--------s',
      seconds: 26,
    },
    {
      case: 'the minimum after a hook that used it all, which is not waited for any longer',
      kill: { container: hooked({ sleep: { seconds: 90 } }), graceSeconds: 10 },
      stop: '10s s',
      seconds: 2,
    },
    {
      case: 'the minimum without running the hook, when there is no grace',
      kill: { container: hooked({ sleep: { seconds: 90 } }), graceSeconds: 0 },
      stop: 's',
      seconds: 2,
    },
    {
      case: 'less what it waited for its turn, in whole seconds',
      kill: { turn$: timer(2_500) },
      stop: '-----s',
      seconds: 28,
    },
    {
      case: 'the minimum when its turn never comes',
      kill: { turn$: NEVER, graceSeconds: 5 },
      stop: '----------s',
      seconds: 2,
    },
  ])('is $case', ({ kill, stop, seconds }) => {
    const history: string[] = [];
    marbles(({ scheduler }) => {
      // `timer` takes the virtual scheduler while the marbles run.
      const { kill$, calls } = stops(scheduler, kill);
      kill$.subscribe({ complete: () => history.push(...calls, `${scheduler.now()} end`) });
    })();
    // It ends with the call.
    expectLanes(history, { everyMs: 500 }).toBe({ [`stop ${seconds}`]: stop, end: stop.replace(/s$/, 'e') });
  });

  it.each([
    { case: 'the API deletion first', pod: aPod({ deletionGracePeriodSeconds: 3 }), reason: undefined, seconds: 3 },
    { case: 'then the spec', pod: aPod(), reason: undefined, seconds: 30 },
    { case: 'or that of the liveness probe that failed', pod: aPod(), reason: 'LivenessProbe' as const, seconds: 8 },
    { case: 'or that of the startup probe that failed', pod: aPod(), reason: 'StartupProbe' as const, seconds: 9 },
    {
      case: 'but a deletion outweighs the probe',
      pod: aPod({ deletionGracePeriodSeconds: 3 }),
      reason: 'LivenessProbe' as const,
      seconds: 3,
    },
    {
      case: 'or 2 s when nothing says',
      pod: aPod({ spec: { terminationGracePeriodSeconds: undefined } }),
      reason: undefined,
      seconds: 2,
    },
  ])('comes from $case', ({ pod, reason, seconds }) => {
    const container: Container = {
      name: 'main',
      livenessProbe: { terminationGracePeriodSeconds: 8 },
      startupProbe: { terminationGracePeriodSeconds: 9 },
    };
    expect(naturalGraceSeconds(pod, container, reason)).toBe(seconds);
  });
});

it(
  'goes on when the preStop hook fails, and says so',
  marbles(({ cold, expectObservable, scheduler }) => {
    const { kill$, calls, stage } = stops(
      scheduler,
      { container: hooked({ exec: { command: ['false'] } }) },
      cold('--(1|)'),
    );
    expectObservable(kill$).toBe('--|');
    scheduler.schedule(() => {
      expect(calls).toEqual(['2 stop 30']);
      expect(stage.events).toEqual(['Killing Stopping container main', 'FailedPreStopHook PreStopHook failed']);
    }, 5);
  }),
);

it(
  'lets a hook that outlasts its grace period go on beside the stop, and gives it up with the container',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const exec$ = cold<never>('-');
    const stop$ = cold('1500ms (x|)', { x: {} });
    const stage = syncStage(aPod(), scheduler, {
      runtime: { execSync: () => exec$, stopContainer: () => stop$ },
    });
    const container = hooked({ exec: { command: ['sleep', '9999'] } });
    expectObservable(killContainer(stage.context, { id: 'id', name: 'main', container, graceSeconds: 3 })).toBe(
      '4500ms |',
    );
    expectSubscriptions(stop$.subscriptions).toBe('3s ^ 1499ms !');
    expectSubscriptions(exec$.subscriptions).toBe('^ 4499ms !');
  }),
);

it(
  'says so when a hook fails beside the stop, and runs none twice',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const exec$ = cold<never>('3500ms #');
    const stage = syncStage(aPod(), scheduler, {
      runtime: { execSync: () => exec$, stopContainer: () => cold('1500ms (x|)', { x: {} }) },
    });
    const container = hooked({ exec: { command: ['sleep', '3'] } });
    expectObservable(killContainer(stage.context, { id: 'id', name: 'main', container, graceSeconds: 3 })).toBe(
      '4500ms |',
    );
    expectSubscriptions(exec$.subscriptions).toBe('^ 3499ms !');
    scheduler.schedule(() => {
      expect(stage.events).toEqual(['Killing Stopping container main', 'FailedPreStopHook PreStopHook failed']);
    }, 5000);
  }),
);

it(
  'asks a preStop hook over HTTP at the address of the pod',
  marbles(({ cold, expectObservable, scheduler }) => {
    const asked: string[] = [];
    const stage = syncStage(aPod(), scheduler, {
      runtime: { stopContainer: () => of({}) },
      httpRequest: (request) => {
        asked.push(urlOf(request));
        return cold('--(a|)', { a: { status: 200, body: '' } });
      },
    });
    const container = hooked({ httpGet: { port: 80, path: '/bye' } });
    const kill = { id: 'id', name: 'main', container, podIps: ['10.0.0.1'] };
    expectObservable(killContainer(stage.context, kill)).toBe('--|');
    scheduler.schedule(() => expect(asked).toEqual(['http://10.0.0.1:80/bye']), 5);
  }),
);

it(
  'takes a container that the runtime does not know as stopped, and passes other errors on',
  marbles(({ expectObservable, scheduler }) => {
    const withStop = (error: Error) =>
      killContainer(
        syncStage(aPod(), scheduler, { runtime: { stopContainer: () => throwError(() => error) } }).context,
        {
          id: 'id',
          name: 'main',
        },
      );
    expectObservable(withStop(new CriError('not-found', 'StopContainer', 'gone'))).toBe('|');
    const busy = new CriError('unavailable', 'StopContainer', 'away');
    expectObservable(withStop(busy)).toBe('#', undefined, busy);
  }),
);

it(
  'writes what it did into the journal, with its cause',
  marbles(({ cold, expectObservable, scheduler }) => {
    const stage = syncStage(aPod(), scheduler, {
      runtime: { stopContainer: () => cold<object>('---(x|)', { x: {} }) },
    });
    expectObservable(killContainer(stage.context, { id: 'id', name: 'main' })).toBe('---|');
    scheduler.schedule(() => {
      expect(stage.records).toMatchObject([
        {
          kind: 'call',
          call: 'StopContainer',
          target: 'id',
          container: 'main',
          durationMs: 3,
          causes: ['cause'],
          pod: { uid: 'uid-1' },
        },
      ]);
    }, 5);
  }),
);

it('uses nothing of the runtime until it is subscribed', () => {
  const stage = syncStage(aPod(), { now: () => 0, schedule: () => EMPTY.subscribe() });
  killContainer(stage.context, { id: 'id', name: 'main' });
  expect(stage.events).toEqual([]);
});

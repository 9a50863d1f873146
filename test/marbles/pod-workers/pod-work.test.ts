import { defer, ignoreElements, NEVER, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { statusChanges } from '../../../src/streams/status/status-changes.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { podWorkStage } from '../../support/pod-work-stage.js';
import { marbles } from '../marbles.js';

const away = new CriError('unavailable', 'any', 'away');
const running = aRuntimeStatus([aContainer({ name: 'main' })]);
const nothing = aRuntimeStatus([], []);
const succeeded = aRuntimeStatus([aContainer({ name: 'main', state: 'exited', reason: 'Completed', finishedAt: 2n })]);

describe('a sync of a running pod', () => {
  it(
    'says that the sandbox is there before anything is pulled or started, and goes on saying so',
    marbles(({ scheduler }) => {
      const told: unknown[] = [];
      const failed = () => throwError(() => new CriError('unknown', 'createContainer', 'no'));
      const stage = podWorkStage(scheduler, { runtime: { createContainer: failed } });
      statusChanges(stage.state).subscribe((uid) => {
        const { conditions, containerStatuses } = stage.state.statuses.get(uid) ?? {};
        const isThere = conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;
        told.push([isThere, containerStatuses?.[0]?.state?.waiting?.reason, [...stage.calls]]);
      });
      stage.sync(nothing);
      expect(told).toEqual([
        ['False', 'ContainerCreating', []],
        ['True', 'ContainerCreating', ['sandbox']],
        ['True', 'CreateContainerError', ['sandbox']],
      ]);
    }),
  );

  it(
    'stores no status in which a container that has ended for good would run again',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod: aPod({ spec: { restartPolicy: 'Never' } }) });
      stage.sync(succeeded);
      expect(stage.state.statuses.get('uid-1')?.phase).toBe('Succeeded');
      stage.sync(running);
      expect(stage.state.statuses.get('uid-1')?.containerStatuses?.[0]?.state).toHaveProperty('terminated');
    }),
  );

  it.each([
    ['was seen to begin again', true, 'nothing', 'waiting'],
    ['was not seen to begin again, and does not run', false, 'nothing', undefined],
    ['was not seen to begin again, and runs as another instance', false, 'running', 'running'],
  ] as const)(
    'stores the status of a static pod that %s, with any former life in its mirror',
    (_, isReborn, is, state) =>
      marbles(({ scheduler }) => {
        const pod = aPod({ source: 'file', spec: { restartPolicy: 'Never', containers: [{ name: 'main' }] } });
        const stage = podWorkStage(scheduler, { pod });
        if (isReborn) stage.state.apply({ kind: 'pod-started-over', uid: 'uid-1' });
        const main = { name: 'main', image: 'host', imageID: '', ready: false, restartCount: 0 };
        const ended = { ...main, containerID: 'fake://former', state: { terminated: { exitCode: 143 } } };
        const mirrorPod = { ...aPod({ uid: 'mirror' }), status: { phase: 'Failed', containerStatuses: [ended] } };
        const run = stage.run({ nothing, running }[is], { mirrorPod });
        stage.play(stage.work.syncPod(run, new AbortController().signal));
        const shown = stage.state.statuses.get('uid-1')?.containerStatuses?.[0]?.state;
        expect(Object.keys(shown ?? {})).toEqual(state === undefined ? [] : [state]);
      })(),
  );

  it.each([0, 1])('stores what a new sandbox runs again, although its own policy Never has ended it with %i', (code) =>
    marbles(({ scheduler }) => {
      const containers = [{ name: 'main', restartPolicy: 'Never' }, { name: 'b' }];
      const stage = podWorkStage(scheduler, { pod: aPod({ spec: { restartPolicy: 'OnFailure', containers } }) });
      const ended = aContainer({ id: 'c0', name: 'main', state: 'exited', exitCode: code, finishedAt: 2n });
      stage.sync(aRuntimeStatus([ended, aContainer({ id: 'b0', name: 'b' })]));
      expect(stage.state.statuses.get('uid-1')?.containerStatuses?.[1]?.state).toHaveProperty('terminated');
      const again = ['main', 'b'].map((name) => aContainer({ id: `${name}1`, name, restartCount: 1 }));
      stage.sync(aRuntimeStatus([...again, ended]));
      expect(stage.state.statuses.get('uid-1')?.containerStatuses).toMatchObject([
        { name: 'b', state: { running: {} } },
        { name: 'main', state: { running: {} } },
      ]);
    })(),
  );

  it(
    'stores its status, starts what lacks, and asks for a newer view since it has changed something',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler);
      stage.sync(nothing);
      expect(stage.results).toEqual(['done', '|']);
      expect(stage.calls).toEqual(['sandbox', 'create', 'start']);
      expect(stage.state.statuses.get('uid-1')?.phase).toBe('Pending');
      expect(stage.relists).toEqual(['uid-1']);
      stage.sync(running);
      expect(stage.state.statuses.get('uid-1')).toMatchObject({ phase: 'Running', podIP: '10.0.0.1' });
      expect(stage.relists).toEqual(['uid-1']);
      expect(stage.records.filter(({ kind }) => kind === 'phase')).toMatchObject([
        { from: undefined, to: 'Pending' },
        { from: 'Pending', to: 'Running' },
      ]);
    }),
  );

  it(
    'is terminal when the pod has nothing left to do, and then starts nothing',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod: aPod({ spec: { restartPolicy: 'Never' } }) });
      stage.sync(succeeded);
      expect(stage.results).toEqual(['terminal', '|']);
      expect(stage.calls).toEqual([]);
      expect(stage.state.statuses.get('uid-1')?.phase).toBe('Succeeded');
    }),
  );

  it.each([
    {
      case: 'whose container crashed again waits until its back-off ends',
      containers: [{ name: 'main', image: 'app:1' }],
      result:
        'waits until 10000: container "main": CrashLoopBackOff: back-off 10s restarting failed container=main pod=web_default(uid-1)',
    },
    {
      case: 'fails if another container failed, with the wait between the failures',
      containers: [
        { name: 'main', image: 'app:1' },
        { name: 'side', image: 'NO' },
      ],
      result: /^PodSyncError: \[container "main": CrashLoopBackOff: .*, container "side": InvalidImageName: /,
    },
  ])('$case', ({ containers, result }) =>
    marbles(({ scheduler }) => {
      const pod = aPod({ spec: { containers } });
      const stage = podWorkStage(scheduler, { pod });
      const crashed = { name: 'main', state: 'exited', exitCode: 1, finishedAt: 0n } as const;
      stage.sync(aRuntimeStatus([aContainer({ ...crashed, id: 'first', hash: 'other' })]));
      stage.results.length = 0;
      stage.sync(aRuntimeStatus([aContainer({ ...crashed, id: 'second', hash: 'other', restartCount: 1 })]));
      expect(stage.results[0]).toEqual(result instanceof RegExp ? expect.stringMatching(result) : result);
      expect(stage.state.statuses.get('uid-1')?.containerStatuses?.[0]?.state?.waiting?.reason).toBe(
        'CrashLoopBackOff',
      );
    })(),
  );

  it.each([
    {
      hostNetwork: false,
      result: 'NetworkNotReady: network is not ready: cni',
      calls: [],
      events: ['NetworkNotReady network is not ready: cni'],
    },
    { hostNetwork: true, result: 'done', calls: ['sandbox', 'create', 'start'], events: [] },
  ])('without a network, hostNetwork $hostNetwork: $result', ({ hostNetwork, result, calls, events }) => {
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { networkProblem: 'cni', pod: aPod({ spec: { hostNetwork } }) });
      stage.sync(nothing);
      expect(stage.results[0]).toBe(result);
      expect(stage.calls).toEqual(calls);
      expect(stage.events.filter((event) => event.startsWith('Network'))).toEqual(events);
    })();
  });

  it(
    'makes the directories of the pod before anything else, on every sync',
    marbles(({ expectObservable, scheduler }) => {
      const made: string[] = [];
      const directories = (uid: string) =>
        defer(() => {
          made.push(`${scheduler.now()} ${uid}`);
          return timer(3, scheduler).pipe(ignoreElements());
        });
      const stage = podWorkStage(scheduler, { directories });
      expectObservable(stage.work.syncPod(stage.run(nothing), new AbortController().signal)).toBe('---(t|)', {
        t: { isTerminal: false },
      });
      scheduler.schedule(() => expect(stage.calls).toEqual([]), 2);
      scheduler.schedule(() => expect(stage.calls).toEqual(['sandbox', 'create', 'start']), 4);
      scheduler.schedule(() => stage.sync(running), 10);
      scheduler.schedule(() => expect(made).toEqual(['0 uid-1', '10 uid-1']), 20);
    }),
  );

  it(
    'whose directories cannot be made starts nothing, and an event says why',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, {
        directories: () => throwError(() => new Error('no space left on device')),
      });
      stage.sync(nothing);
      expect(stage.results).toEqual(['Error: no space left on device', '|']);
      expect(stage.calls).toEqual([]);
      expect(stage.events).toEqual(['Failed error making pod data directories: no space left on device']);
    }),
  );

  it(
    'shows at once why a container could not be started, and no longer once it was',
    marbles(({ scheduler }) => {
      let isBroken = true;
      const createContainer = () => (isBroken ? throwError(() => away) : of({ containerId: 'new' }));
      const stage = podWorkStage(scheduler, { runtime: { createContainer } });
      stage.sync(nothing);
      expect(stage.results).toEqual(['PodSyncError: container "main": CreateContainerError: away', '|']);
      expect(stage.state.statuses.get('uid-1')?.containerStatuses?.[0]?.state).toEqual({
        waiting: { reason: 'CreateContainerError', message: 'away' },
      });
      isBroken = false;
      stage.sync(nothing);
      expect(stage.state.startFailures.get('uid-1', 'main')).toBeUndefined();
    }),
  );

  it.each([
    { call: 'RunPodSandbox', port: 'runPodSandbox' },
    { call: 'CreateContainer', port: 'createContainer' },
  ] as const)('that waits for $call shows so after 10 s', ({ call, port }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = podWorkStage(scheduler, { runtime: { [port]: () => NEVER } });
      expectObservable(stage.work.syncPod(stage.run(nothing), new AbortController().signal), '20s !').toBe('-');
      const waiting = () => stage.state.statuses.get('uid-1')?.containerStatuses?.[0]?.state?.waiting;
      scheduler.schedule(() => expect(waiting()).toEqual({ reason: 'ContainerCreating' }), 9_999);
      scheduler.schedule(() => {
        const message = `${call} has not returned for 10 s`;
        expect(waiting()).toEqual({ reason: 'ContainerCreating', message });
      }, 10_001);
    })();
  });

  it(
    'past its active deadline is terminal, and an event says why',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, {
        pod: aPod({ spec: { activeDeadlineSeconds: 20 } }),
        wallClock: () => 20_000,
      });
      stage.state.apply({
        kind: 'status',
        uid: 'uid-1',
        status: { phase: 'Running', startTime: '1970-01-01T00:00:00Z' },
      });
      stage.sync(running);
      expect(stage.results[0]).toBe('terminal');
      expect(stage.state.statuses.get('uid-1')).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
      expect(stage.events).toEqual(['DeadlineExceeded Pod was active on the node longer than the specified deadline']);
    }),
  );
});

describe('what is measured of a pod', () => {
  const seen = aPod({ annotations: { 'kubernetes.io/config.seen': '1970-01-01T00:00:01.000000000Z' } });

  it(
    'is when it is worked on first, and when it runs first; never again',
    marbles(({ scheduler }) => {
      let now = 3_000;
      const stage = podWorkStage(scheduler, { pod: seen, wallClock: () => now });
      const starts = () => stage.observed.filter((line) => /^pod(Worker)?Start /.test(line));
      stage.sync(nothing);
      expect(starts()).toEqual(['podWorkerStart 2']);
      now = 8_000;
      stage.sync(running);
      now = 9_000;
      stage.sync(running);
      expect(starts()).toEqual(['podWorkerStart 2', 'podStart 7']);
    }),
  );

  it(
    'says nothing of a pod that ran already when the agent came',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod: seen, wallClock: () => 3_000 });
      stage.sync(running);
      expect(stage.observed.filter((line) => line.startsWith('podStart '))).toEqual([]);
    }),
  );

  it(
    'is every end of a container, once',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod: aPod({ spec: { restartPolicy: 'Never' } }) });
      for (const status of [running, succeeded, succeeded]) stage.sync(status);
      expect(stage.observed.filter((line) => line.startsWith('containerTerminated'))).toEqual([
        'containerTerminated container 0 Completed',
      ]);
    }),
  );
});

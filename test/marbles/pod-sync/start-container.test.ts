import { NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { crashLoopKey } from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { startContainer } from '../../../src/streams/pod-sync/start-container.js';
import { fakePodReferences } from '../../support/fake-pod-references.js';
import { aRuntimeStatus } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { away, ended, IS_PRESENT, nanos, present, sandbox, SECOND, stageOf, stateOf } from './start-stage.js';

const app = { name: 'main', image: 'app:1', imagePullPolicy: 'IfNotPresent' };

describe('a container', () => {
  it(
    'is created in its sandbox, started, and reported by events',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, {});
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        expect(stage.calls).toEqual(['create main 0 main/0.log', 'start new']);
        expect(stage.events.slice(1)).toEqual(['Created Container created', 'Started Container started']);
        expect(stage.observed).toEqual([IS_PRESENT, 'containerStarted container']);
        expect(stage.records.map((record) => record.kind === 'call' && record.call)).toEqual([
          'CreateContainer',
          'StartContainer',
        ]);
      }, 1);
    }),
  );

  it.each([
    {
      case: 'one more than its newest instance',
      instances: [ended({ restartCount: 4 })],
      logFiles: ['9.log'],
      attempt: 5,
    },
    { case: 'one more than its logs have, without an instance', logFiles: ['0.log', '2.log.gz', 'x'], attempt: 3 },
    { case: 'none, without either', attempt: 0 },
  ])('has as many restarts as $case', ({ attempt, ...scene }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, scene);
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => expect(stage.calls[0]).toBe(`create main ${attempt} main/${attempt}.log`), 1);
    })();
  });

  it(
    'has the environment that its objects and services give it',
    marbles(({ expectObservable, scheduler }) => {
      const envs: string[] = [];
      const stage = stageOf(scheduler, {
        container: { ...app, envFrom: [{ configMapRef: { name: 'cm' } }, { secretRef: { name: 's' } }] },
        podReferences: fakePodReferences({
          configMaps: { 'default/cm': { A: 'a' } },
          secrets: { 'default/s': { B: 'b' } },
          services: [{ metadata: { namespace: 'default', name: 'db' }, spec: { clusterIP: '10.0.0.2' } }],
        }),
        runtime: {
          createContainer: ({ config }) => {
            envs.push(...(config?.envs ?? []).map(({ key, value }) => `${key}=${Buffer.from(value ?? []).toString()}`));
            return of({ containerId: 'new' });
          },
        },
      });
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => expect(envs).toEqual(['A=a', 'B=b', 'DB_SERVICE_HOST=10.0.0.2']), 1);
    }),
  );

  it.each([
    { lacks: 'an object', objects: {}, problem: 'configmap "cm" not found' },
    {
      lacks: 'a key',
      objects: { configMaps: { 'default/cm': {} } },
      problem: "couldn't find key k in ConfigMap default/cm",
    },
    {
      lacks: 'services',
      objects: { services: null },
      source: 'api',
      problem: 'services have not yet been read at least once, cannot construct envvars',
    },
  ])('that lacks $lacks is not created, and its status says so', ({ objects, source, problem }) => {
    marbles(({ expectObservable, scheduler }) => {
      const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k' } } }];
      const stage = stageOf(scheduler, {
        container: { ...app, env },
        source,
        podReferences: fakePodReferences(objects),
      });
      expectObservable(stage.start$).toBe('(o|)', { o: `CreateContainerConfigError: ${problem}` });
      scheduler.schedule(() => {
        expect(stage.calls).toEqual([]);
        expect(stage.events.at(-1)).toBe(`Failed Error: ${problem}`);
      }, 1);
    })();
  });

  it(
    'that was created and never started is removed first, and its successor is the same attempt',
    marbles(({ expectObservable, scheduler }) => {
      const unstarted = ended({ id: 'unstarted', state: 'created', exitCode: 0, restartCount: 3 });
      const stage = stageOf(scheduler, { instances: [unstarted, ended({ restartCount: 2 })] });
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        expect(stage.calls).toEqual(['remove unstarted', 'create main 3 main/3.log', 'start new']);
      }, 1);
    }),
  );

  it(
    'is not created while the runtime may still start an earlier instance',
    marbles(({ expectObservable, scheduler }) => {
      const refuses = () => throwError(() => new CriError('unknown', 'RemoveContainer', 'it is starting'));
      const unstarted = ended({ id: 'unstarted', state: 'created', exitCode: 0 });
      const stage = stageOf(scheduler, { instances: [unstarted], runtime: { removeContainer: refuses } });
      expectObservable(stage.start$).toBe('(e|)', { e: 'CreateContainerError: it is starting' });
      scheduler.schedule(() => expect(stage.calls).toEqual([]), 1);
    }),
  );

  it(
    'that was not started yet when it was looked at, but runs by now, is left alone',
    marbles(({ expectObservable, scheduler }) => {
      const unstarted = ended({ id: 'unstarted', state: 'created', exitCode: 0 });
      const containerStatus = () => of(stateOf('CONTAINER_RUNNING'));
      const stage = stageOf(scheduler, { instances: [unstarted], runtime: { containerStatus } });
      expectObservable(stage.start$).toBe('(e|)', {
        e: 'CreateContainerError: unstarted has been started in the meantime',
      });
      scheduler.schedule(() => expect(stage.calls).toEqual([]), 1);
    }),
  );

  it.each([
    {
      case: 'whose image is not available',
      scene: { image: throwError(() => away) },
      result: 'ImageInspectError: Failed to inspect image "app:1": the runtime is away',
      events: ['InspectFailed Failed to inspect image "app:1": the runtime is away', 'Failed Error: ImageInspectError'],
      image: 'imageEnsured IfNotPresent  ',
    },
    {
      case: 'whose log folder cannot be made',
      scene: { files: { makeDirectory: () => throwError(() => new Error('no space')) } },
      result: 'CreateContainerConfigError: no space',
      events: ['Failed Error: no space'],
    },
    {
      case: 'that cannot be created',
      scene: { runtime: { createContainer: () => throwError(() => away) } },
      result: 'CreateContainerError: the runtime is away',
      events: ['Failed Error: the runtime is away'],
    },
    {
      case: 'that cannot be started',
      scene: { runtime: { startContainer: () => throwError(() => away) } },
      result: 'RunContainerError: the runtime is away',
      events: ['Created Container created', 'Failed Error: the runtime is away'],
    },
    {
      case: 'that the runtime names by its id when it cannot be started',
      scene: { runtime: { startContainer: () => throwError(() => new Error('new: no such file "x" in new')) } },
      result: 'RunContainerError: new: no such file "x" in new',
      events: ['Created Container created', 'Failed Error: main: no such file "x" in main'],
    },
  ])('$case fails by a reason of its own: $result', ({ scene, result, events, image = IS_PRESENT }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, scene);
      expectObservable(stage.start$).toBe('(o|)', { o: result });
      scheduler.schedule(() => {
        expect(stage.events.filter((event) => !event.startsWith('Pulled'))).toEqual(events);
        expect(stage.observed).toEqual([image, `containerStarted container ${result.split(':')[0]}`]);
      }, 1);
    })();
  });

  it(
    'is not created once the pod has to stop: the signal fired while its image was looked at',
    marbles(({ cold, expectObservable, scheduler }) => {
      const abort = new AbortController();
      scheduler.schedule(() => abort.abort(), 2);
      const stage = stageOf(scheduler, { image: cold('---(i|)', { i: present }), signal: abort.signal });
      expectObservable(stage.start$).toBe('---(o|)', { o: 'SyncCancelled: the run was cancelled by a newer update' });
      scheduler.schedule(() => {
        expect(stage.calls).toEqual([]);
        expect(stage.observed).toEqual(['imageEnsured IfNotPresent true ']);
        expect(stage.events.filter((event) => event.startsWith('Failed'))).toEqual([]);
      }, 5);
    }),
  );
});

describe('a container that has ended before', () => {
  it(
    'starts at once the first time, and from then on waits 10 s after its end',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { instances: [ended()] });
      expectObservable(stage.start$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(
        () =>
          expect(stage.state.restarts.get(crashLoopKey(stage.pod, stage.container))).toEqual({
            delayMs: 10 * SECOND,
            lastUpdate: 0,
            end: { id: 'id-main', at: 0 },
            crashes: 1,
            counted: 'id-main',
          }),
        1,
      );
    }),
  );

  it.each([
    { at: 9_999, isBlocked: true, picture: '9999ms w' },
    { at: 10_000, isBlocked: false, picture: '   10s s' },
  ])('is refused until its back-off is over: after $at ms of 10 s it is $isBlocked', ({ at, isBlocked, picture }) => {
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { instances: [ended()] });
      stage.state.apply({
        kind: 'restart-backed-off',
        key: crashLoopKey(stage.pod, stage.container),
        entry: { delayMs: 10 * SECOND, lastUpdate: -SECOND },
      });
      const results: string[] = [];
      scheduler.schedule(() => stage.start$.subscribe((result) => results.push(`${scheduler.now()} ${result}`)), at);
      scheduler.schedule(() => {
        expectLanes(results, { everyMs: 1 }).toBe(picture, {
          w: 'waits: CrashLoopBackOff: back-off 10s restarting failed container=main pod=web_default(uid-1)',
          s: 'ok',
        });
        if (!isBlocked) return;
        expect(stage.calls).toEqual([]);
        expect(stage.events).toEqual(['BackOff Back-off restarting failed container main in pod web_default(uid-1)']);
        // It was not tried, so it did not fail.
        expect(stage.observed).toEqual([]);
        expect(stage.records).toMatchObject([
          {
            kind: 'back-off',
            subject: 'restart',
            container: 'main',
            exitCode: 1,
            delayMs: 10 * SECOND,
            until: 10 * SECOND,
            step: 1,
            steps: 6,
          },
        ]);
      }, at + 1);
    })();
  });

  it(
    'reports to its worker when to come back',
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { instances: [ended({ finishedAt: nanos(3_000) })], runtime: {} });
      stage.state.apply({
        kind: 'restart-backed-off',
        key: crashLoopKey(stage.pod, stage.container),
        entry: { delayMs: 40 * SECOND, lastUpdate: 0 },
      });
      scheduler.schedule(() => {
        const until: unknown[] = [];
        startContainer(
          stage.context,
          { kind: 'regular', container: stage.container },
          sandbox,
          aRuntimeStatus([ended({ finishedAt: nanos(3_000) })]),
          { node: nodeFacts, state: stage.state, maxRestartBackOffMs: 300 * SECOND },
        ).subscribe(({ waitsUntil }) => until.push(waitsUntil));
        expect(until).toEqual([43 * SECOND]);
      }, 5_000);
    }),
  );
});

it(
  'does nothing before it is subscribed',
  marbles(({ scheduler }) => {
    const stage = stageOf(scheduler, { image: NEVER });
    expect([stage.calls, stage.events, stage.records]).toEqual([[], [], []]);
  }),
);

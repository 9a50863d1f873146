import { defer, delay, EMPTY, mergeMap, NEVER, type Observable, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { DEFAULT_CONTAINER_GC } from '../../../src/model/upkeep/container-gc.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { PlegEvent } from '../../../src/model/pleg/pleg.js';
import type { RuntimeItem, RuntimePod, RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { garbageCollection, type GarbageCollectionOptions } from '../../../src/streams/upkeep/garbage-collection.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { noFiles } from '../../support/sync-context.js';
import { expectLanes, linesOf } from '../lanes.js';
import { marbles } from '../marbles.js';

const MINUTE = 60_000;
const item = (id: string, rest: Partial<RuntimeItem> = {}): RuntimeItem => ({
  ...{ kind: 'container', id, name: 'main', state: 'exited', createdAt: 1n, sandboxId: 'sb', attempt: 0 },
  ...rest,
});
const podWith = (uid: string, ...items: readonly RuntimeItem[]): RuntimePod => ({
  ...{ uid, name: uid, namespace: 'default', observedAt: 0, items },
});
const died: PlegEvent = {
  pod: { uid: 'a', namespace: 'default', name: 'a' },
  type: 'ContainerDied',
  id: 'c3',
  container: 'main',
};
const away = new CriError('unavailable', 'any', 'away');

const statusOfContainer = (id: string): ContainerStatusResponse =>
  ({
    status: {
      id,
      metadata: { name: 'main', attempt: 0 },
      state: id.startsWith('running') ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
      labels: {
        'io.kubernetes.pod.uid': 'uid',
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'default',
      },
      logPath: `/logs/${id}`,
      mounts: [{ hostPath: `/root-dir/pods/uid/containers/main/0000000${id.at(-1)}` }],
    },
    info: {},
  }) as unknown as ContainerStatusResponse;

interface Scene extends Partial<Omit<GarbageCollectionOptions, 'scheduler'>> {
  readonly pods?: readonly RuntimePod[];
  /** Pods of which everything may go. */
  readonly gone?: readonly string[];
  /** Default: true. */
  readonly areSourcesReady?: boolean;
  /** Calls that fail, by what `calls` shows of them. */
  readonly fails?: Readonly<Record<string, Error>>;
  readonly callMs?: number;
}

const collecting = (scheduler: GarbageCollectionOptions['scheduler'], scene: Scene) => {
  const { pods = [], gone = [], areSourcesReady = true, fails = {}, callMs = 0, ...options } = scene;
  const calls: string[] = [];
  const logged: string[] = [];
  const events: string[] = [];
  const call = (what: string): Observable<object> =>
    defer(() => {
      calls.push(`${scheduler.now()} ${what}`);
      const error = fails[what];
      const answer$ = error ? throwError(() => error) : of({});
      return callMs === 0 ? answer$ : timer(callMs, scheduler).pipe(delay(0, scheduler));
    });
  const silently = (what: string): Observable<never> =>
    defer(() => {
      calls.push(`${scheduler.now()} ${what}`);
      return EMPTY;
    });
  const said = (fields: object, message: string) => logged.push(message);
  const gc$ = garbageCollection({
    reader: { listPods: () => of(pods) },
    runtime: {
      containerStatus: ({ containerId }) =>
        defer(() => {
          const error = fails[`look at ${containerId}`];
          if (error) throw error;
          return of(statusOfContainer(containerId ?? ''));
        }),
      stopContainer: ({ containerId }) => call(`stop ${containerId}`),
      removeContainer: ({ containerId }) => call(`remove ${containerId}`),
      stopPodSandbox: ({ podSandboxId }) => call(`stop ${podSandboxId}`),
      removePodSandbox: ({ podSandboxId }) => call(`remove ${podSandboxId}`),
    },
    files: {
      ...noFiles,
      removeLog: (path) => (fails[`log ${path}`] ? throwError(() => fails[`log ${path}`]) : silently(`log ${path}`)),
      // What belongs to every container has a test of its own.
      remove: (path) => (path.startsWith('/logs') ? silently(`folder ${path}`) : EMPTY),
    },
    state: { workers: { shouldContentBeRemoved: (uid) => gone.includes(uid) }, sources: { all: areSourcesReady } },
    statusOf: () => undefined,
    pleg$: NEVER,
    rootDirectory: '/root-dir',
    podLogsDirectory: '/logs',
    containerLogsDirectory: '/links',
    recordEvent: (event) => events.push(`${scheduler.now()} ${event.type} ${event.reason} ${event.message}`),
    policy: DEFAULT_CONTAINER_GC,
    log: { debug: said, info: said, warn: said, error: said },
    scheduler,
    wallClock: () => scheduler.now(),
    ...options,
  });
  return { gc$, calls, logged, events };
};

/** What was done until `untilMs`, as `<ms> <what>`. */
const played = (
  scene: (t: { readonly scheduler: GarbageCollectionOptions['scheduler'] }) => Scene,
  untilMs: number,
) => {
  let result!: ReturnType<typeof collecting>;
  marbles(({ scheduler }) => {
    result = collecting(scheduler, scene({ scheduler }));
    const subscription = result.gc$.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
  })();
  return result;
};

describe('every minute', () => {
  it('what has ended is collected: nothing before the first minute, then once a minute', () => {
    const pods = [podWith('a', item('new', { createdAt: 2n }), item('old'))];
    const { calls } = played(() => ({ pods }), 2.5 * MINUTE);
    expectLanes(calls, { everyMs: MINUTE }).toBe({ 'log /logs/old': '-ll', 'remove old': '   -rr' });
  });

  it('a round that takes longer than a minute delays the next one', () => {
    const pods = [podWith('a', item('c2', { createdAt: 3n }), item('c1', { createdAt: 2n }), item('c0'))];
    const { calls } = played(() => ({ pods, callMs: 70_000 }), 4.5 * MINUTE);
    // One after the other, but none waits longer than five seconds for one that hangs. The tick of 120 s is lost.
    expectLanes(calls, { everyMs: 5_000 }).toBe({
      'log /logs/c0': '------------l- 110s l-',
      'remove c0': '   ------------r- 110s r-',
      'log /logs/c1': '-------------l 110s -l',
      'remove c1': '   -------------r 110s -r',
    });
  });

  it('containers go before the sandboxes that hold nothing any more', () => {
    const { calls } = played(
      () => ({
        pods: [
          podWith('gone', item('sb', { kind: 'sandbox', name: '' })),
          podWith('left', item('c1', { sandboxId: 'other' })),
        ],
        gone: ['gone', 'left'],
        files: noFiles,
      }),
      1.5 * MINUTE,
    );
    expect(calls.map((line) => line.replace('60000 ', ''))).toEqual(['remove c1', 'stop sb', 'remove sb']);
  });

  it('folders of logs are removed once no source wants their pod and the runtime has nothing of it', () => {
    const removed: string[] = [];
    played(
      () => ({
        pods: [podWith('left', item('c1', { state: 'running' }))],
        gone: ['left', 'nothing-left'],
        files: {
          ...noFiles,
          listDirectory: () => of(['default_web_nothing-left', 'default_web_left', 'default_web_wanted']),
          remove: (path) => {
            removed.push(path);
            return EMPTY;
          },
        },
      }),
      1.5 * MINUTE,
    );
    expect(removed).toEqual(['/logs/default_web_nothing-left']);
  });

  it('a folder of logs stays when its pod has come back before its turn', () => {
    const removed: string[] = [];
    const gone = ['first', 'second'];
    played(
      ({ scheduler }) => ({
        gone,
        files: {
          ...noFiles,
          listDirectory: () => of(['default_web_first', 'default_web_second']),
          remove: (path) => {
            removed.push(path);
            return timer(1, scheduler).pipe(mergeMap(() => (gone.pop(), EMPTY)));
          },
        },
      }),
      1.5 * MINUTE,
    );
    expect(removed).toEqual(['/logs/default_web_first']);
  });

  it('no pod counts as gone while a source is not ready', () => {
    const scene = { pods: [podWith('a', item('c1'))], gone: ['a'] };
    expect(played(() => ({ ...scene, areSourcesReady: false }), 1.5 * MINUTE).calls).toEqual([]);
    expect(played(() => scene, 1.5 * MINUTE).calls).toEqual(['60000 log /logs/c1', '60000 remove c1']);
  });

  it('a container in an unknown state is stopped before it is removed', () => {
    const pods = [podWith('a', item('lost', { state: 'unknown' }))];
    const { calls } = played(() => ({ pods, gone: ['a'] }), 1.5 * MINUTE);
    expect(calls).toEqual(['60000 stop lost', '60000 log /logs/lost', '60000 remove lost']);
  });

  it('a container whose logs cannot be removed stays, is said, and holds up nothing else', () => {
    const pods = [podWith('a', item('c1', { createdAt: 1n }), item('c2', { createdAt: 2n }))];
    const { calls, logged } = played(
      () => ({ pods, gone: ['a'], fails: { 'log /logs/c1': new Error('busy') } }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual(['60000 log /logs/c2', '60000 remove c2']);
    expect(logged).toEqual(['container main could not be removed']);
  });

  it('what the runtime has lost already is no failure', () => {
    const pods = [podWith('a', item('c1'))];
    const lost = new CriError('not-found', 'RemoveContainer', 'no such container');
    const { logged } = played(() => ({ pods, gone: ['a'], fails: { 'remove c1': lost } }), 1.5 * MINUTE);
    expect(logged).toEqual([]);
  });

  it('a container is removed with its logs, the link to them and its termination message', () => {
    const calls: string[] = [];
    const noting = (what: string) => (path: string) =>
      defer(() => {
        calls.push(`${what} ${path}`);
        return EMPTY;
      });
    const { calls: removals } = played(
      () => ({
        pods: [podWith('a', item('c1'))],
        gone: ['a'],
        files: { ...noFiles, removeLog: noting('log'), remove: noting('file') },
      }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual([
      'log /logs/c1',
      'file /links/web_default_main-c1.log',
      'file /root-dir/pods/uid/containers/main/00000001',
    ]);
    expect(removals).toEqual(['60000 remove c1']);
  });

  it('a container whose link cannot be removed stays', () => {
    const { calls } = played(
      () => ({
        pods: [podWith('a', item('c1'))],
        gone: ['a'],
        files: { ...noFiles, remove: () => throwError(() => new Error('read-only')) },
      }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual([]);
  });

  it.each<{ case: string; name: string; fails?: Scene['fails']; goes: boolean }>([
    { case: 'of a container that has ended', name: 'web_default_main-ended1.log', goes: true },
    { case: 'of one that runs and may be rotating its log', name: 'web_default_main-running1.log', goes: false },
    {
      case: 'of an unknown container',
      name: 'web_default_main-unheard1.log',
      fails: { 'look at unheard1': new CriError('not-found', 'ContainerStatus', 'no such container') },
      goes: true,
    },
    { case: 'of no container', name: 'something.log', fails: { 'look at something': away }, goes: true },
    { case: 'that is no link to a log', name: 'web_default_main-ended1.txt', goes: false },
  ])('a dangling link $case goes: $goes', ({ name, fails, goes }) => {
    const removed: string[] = [];
    played(
      () => ({
        fails,
        // Links are removed even while a source is not ready.
        areSourcesReady: false,
        files: {
          ...noFiles,
          danglingLinks: (directory) => of(directory === '/links' ? [name] : []),
          remove: (path) => {
            removed.push(path);
            return EMPTY;
          },
        },
      }),
      1.5 * MINUTE,
    );
    expect(removed).toEqual(goes ? [`/links/${name}`] : []);
  });

  it('a dangling link that cannot be removed is said, and holds up no other', () => {
    const { logged } = played(
      () => ({
        files: {
          ...noFiles,
          danglingLinks: () => of(['first-ended1.log', 'second-ended2.log']),
          remove: () => throwError(() => new Error('read-only')),
        },
      }),
      1.5 * MINUTE,
    );
    expect(logged).toEqual(
      ['first-ended1.log', 'second-ended2.log'].map((name) => `the dangling link ${name} could not be removed`),
    );
  });

  it('a step that fails holds up no other, and an event about the node says why each failed', () => {
    const { events, calls } = played(
      () => ({
        pods: [podWith('left', item('c1'))],
        gone: ['left', 'nothing-left'],
        files: {
          ...noFiles,
          listDirectory: () => throwError(() => new Error('EACCES /logs')),
          danglingLinks: () => throwError(() => new Error('EACCES /links')),
        },
      }),
      1.5 * MINUTE,
    );
    expect(calls).toEqual(['60000 remove c1']);
    expect(events).toEqual(['60000 Warning ContainerGCFailed [EACCES /logs, EACCES /links]']);
  });

  it('a failed round is logged and reported by an event about the node, and the next one runs a minute later', () => {
    let listings = 0;
    const { logged, events } = played(
      () => ({
        reader: {
          listPods: () => {
            listings += 1;
            return throwError(() => away);
          },
        },
      }),
      2.5 * MINUTE,
    );
    expect(logged).toEqual(Array<string>(2).fill('the garbage of ended pods could not be removed'));
    // Three steps ask for a list, and fail for the same reason.
    expect(listings).toBe(6);
    expect(events).toEqual(['60000 Warning ContainerGCFailed away', '120000 Warning ContainerGCFailed away']);
  });
});

describe('after the death of a container', () => {
  const instances: RuntimePodStatus = aRuntimeStatus([
    aContainer({ name: 'main', id: 'c3', state: 'exited' }),
    aContainer({ name: 'main', id: 'c2', state: 'exited' }),
    aContainer({ name: 'other', id: 'x', state: 'exited' }),
    aContainer({ name: 'main', id: 'c1', state: 'exited' }),
  ]);

  it.each<{ case: string; scene: Scene; removed: readonly string[] }>([
    { case: 'all but its newest instance go', scene: {}, removed: ['c2', 'c1'] },
    {
      case: 'all of its pod are removed when no source wants that',
      scene: { gone: ['a'] },
      removed: ['c3', 'c2', 'x', 'c1'],
    },
    {
      case: 'one stays, though the policy keeps none',
      scene: { policy: { ...DEFAULT_CONTAINER_GC, maxPerPodContainer: 0 } },
      removed: ['c2', 'c1'],
    },
    {
      case: 'two stay if the policy says so',
      scene: { policy: { ...DEFAULT_CONTAINER_GC, maxPerPodContainer: 2 } },
      removed: ['c1'],
    },
    {
      case: 'all stay if the policy keeps all',
      scene: { policy: { ...DEFAULT_CONTAINER_GC, maxPerPodContainer: -1 } },
      removed: [],
    },
    { case: 'nothing goes of a pod that is not known', scene: { statusOf: () => undefined }, removed: [] },
  ])('$case', ({ scene, removed }) => {
    const { calls } = played(() => ({ statusOf: () => instances, pleg$: of(died), ...scene }), 10);
    expect(calls.filter((line) => line.includes('remove'))).toEqual(removed.map((id) => `0 remove ${id}`));
  });

  it('of a pod that was evicted are removed, the newest ones too, but not what runs', () => {
    const found = aRuntimeStatus([...instances.containers, aContainer({ id: 'running', name: 'other' })]);
    const { calls } = played(() => ({ statusOf: () => found, evicted$: of('a') }), 10);
    const removed = calls.filter((call) => call.includes(' remove ')).map((call) => call.split(' ').at(-1));
    expect(removed).toEqual(['c3', 'c2', 'x', 'c1']);
  });

  it('one is trimmed after the other, and other events trim nothing', () => {
    const other: PlegEvent = { ...died, type: 'ContainerStarted' };
    const { calls } = played(() => ({ statusOf: () => instances, pleg$: of(other, died, died), callMs: 5 }), 100);
    expect(calls.filter((line) => line.includes('remove'))).toEqual([
      '0 remove c2',
      '5 remove c1',
      '10 remove c2',
      '15 remove c1',
    ]);
  });

  it('as many as 50 wait for their turn; the rest is left to the next minute', () => {
    const many = aRuntimeStatus(
      Array.from({ length: 60 }, (_, index) => aContainer({ name: 'main', id: `c${index}`, state: 'exited' })),
    );
    const { calls, logged } = played(() => ({ statusOf: () => many, pleg$: of(died), callMs: 1 }), 100);
    const removals = linesOf(calls, 'remove');
    // The newest is kept, and 51 are taken on: one at once, 50 after it.
    expect(removals.map((line) => line.split(' ').at(-1))).toEqual(
      Array.from({ length: 51 }, (_, index) => `c${index + 1}`),
    );
    expectLanes(removals, { everyMs: 1 }).toBe({ remove: 'rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr' });
    expect(logged).toEqual(Array<string>(8).fill('a dead container is left to the next collection'));
  });
});

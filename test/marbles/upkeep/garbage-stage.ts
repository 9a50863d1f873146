import { defer, delay, EMPTY, NEVER, type Observable, of, throwError, timer } from 'rxjs';
import type { ContainerStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { DEFAULT_CONTAINER_GC } from '../../../src/model/upkeep/container-gc.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { PlegEvent } from '../../../src/model/pleg/pleg.js';
import type { RuntimeItem, RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import {
  garbageCollection,
  type GarbageCollectionOptions,
  removeDeadContainers,
} from '../../../src/streams/upkeep/garbage-collection.js';
import { noFiles } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

export const MINUTE = 60_000;
export const item = (id: string, rest: Partial<RuntimeItem> = {}): RuntimeItem => ({
  ...{ kind: 'container', id, name: 'main', state: 'exited', createdAt: 1n, sandboxId: 'sb', attempt: 0 },
  ...rest,
});
export const podWith = (uid: string, ...items: readonly RuntimeItem[]): RuntimePod => ({
  ...{ uid, name: uid, namespace: 'default', observedAt: 0, items },
});
export const died: PlegEvent = {
  pod: { uid: 'a', namespace: 'default', name: 'a' },
  type: 'ContainerDied',
  id: 'c3',
  container: 'main',
};
export const away = new CriError('unavailable', 'any', 'away');

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

export interface Scene extends Partial<Omit<GarbageCollectionOptions, 'scheduler'>> {
  readonly pods?: readonly RuntimePod[];
  /** Pods of which everything may go. */
  readonly gone?: readonly string[];
  /** Pods that have ended and that a source still wants. */
  readonly ended?: readonly string[];
  /** Default: true. */
  readonly areSourcesReady?: boolean;
  /** Calls that fail, by what `calls` shows of them. */
  readonly fails?: Readonly<Record<string, Error>>;
  readonly callMs?: number;
}

export interface Collecting {
  readonly gc$: Observable<never>;
  /** Removes what it may at once. */
  readonly removeDead$: Observable<never>;
  /** What was done, as `<ms> <what>`. */
  readonly calls: readonly string[];
  readonly logged: readonly string[];
  /** The events about the node, as `<ms> <type> <reason> <message>`. */
  readonly events: readonly string[];
}

const collecting = (scheduler: GarbageCollectionOptions['scheduler'], scene: Scene): Collecting => {
  const { pods = [], gone = [], ended = [], areSourcesReady = true, fails = {}, callMs = 0, ...options } = scene;
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
  const collection: GarbageCollectionOptions = {
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
    state: {
      workers: { shouldContentBeRemoved: (uid) => gone.includes(uid), isKnownTerminated: (uid) => ended.includes(uid) },
      sources: { all: areSourcesReady },
    },
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
  };
  return { gc$: garbageCollection(collection), removeDead$: removeDeadContainers(collection), calls, logged, events };
};

/** Collects until `untilMs`. */
export const played = (
  scene: (t: { readonly scheduler: GarbageCollectionOptions['scheduler'] }) => Scene,
  untilMs: number,
): Collecting => {
  let result!: Collecting;
  marbles(({ scheduler }) => {
    result = collecting(scheduler, scene({ scheduler }));
    const subscription = result.gc$.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
  })();
  return result;
};

/** Removes at once what it may; an error is the last call. */
export const reclaimed = (scene: Scene): readonly string[] => {
  let calls: readonly string[] = [];
  marbles(({ scheduler }) => {
    const collection = collecting(scheduler, scene);
    const removed: string[] = [];
    calls = removed;
    collection.removeDead$.subscribe({
      error: (error: unknown) => removed.push(...collection.calls, (error as Error).message),
      complete: () => removed.push(...collection.calls),
    });
  })();
  return calls;
};

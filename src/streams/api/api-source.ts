import {
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  EMPTY,
  filter,
  from,
  map,
  merge,
  type Observable,
  of,
  repeat,
  share,
  take,
  takeUntil,
  throttleTime,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { ApiError } from '../../model/api/api-error.js';
import { podsPath } from '../../model/api/api-paths.js';
import { foldPodObjects, NO_POD_OBJECTS, type ObjectsEvent, readablePods } from '../../model/api/pod-objects.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/api/reflector-event.js';
import { errorText } from '../../model/cri-error.js';
import { podSet, type SourceEvent, sourceProblem } from '../../model/pod-set.js';
import type { KnownPods, LastKnown, Logger, WallClock } from '../ports.js';
import { DISK_LIMIT_MS, keepPods } from './keep-pods.js';
import type { ListWatchPorts } from './list-watch.js';
import { reflector } from './reflector.js';

/** An API server that has given no list for so long after the start, and does not answer when it is asked once more, is away. */
export const OFFLINE_AFTER_MS = 10_000;
/** How long that question may take. */
export const OFFLINE_ANSWER_MS = 5_000;

export interface ApiSourcePorts extends ListWatchPorts {
  readonly wallClock: WallClock;
  /** Keeps pods for a start while the API server is away; without it nothing is kept. */
  readonly lastKnown?: LastKnown;
}

export interface ApiSourceOptions {
  readonly nodeName: string;
  /**
   * Whether the agent has seen its own node, at once and whenever that changes. Pods are not listed before: they would be let in
   * by a node whose labels and taints are not known.
   */
  readonly isNodeKnown$: Observable<boolean>;
}

const FROM = 'API server: pods';

/**
 * The pods that the API server has for a node: a set with its first list and with each change. A change is told at once, but for those
 * that follow another one within a millisecond, such as lines of a watch that arrive together: these are told as one set after it.
 *
 * While an API server has not answered since the start, the pods that it had last are the set (`lastKnown`); its first list takes
 * their place. They are never used beside a server that answers, whatever it says: its pods may run elsewhere by now.
 *
 * Errors: none; see `problem`.
 * Ends:   never.
 * Source: pkg/kubelet/config/apiserver.go; what is kept for an API server that is away is ours
 */
export const apiSource = (ports: ApiSourcePorts, options: ApiSourceOptions): Observable<SourceEvent> =>
  ports.lastKnown === undefined
    ? followed(ports, options, undefined)
    : readKept(ports.lastKnown, ports).pipe(
        concatMap(({ kept, problem }) =>
          concat(problem ? of(sourceProblem(problem)) : EMPTY, followed(ports, options, kept)),
        ),
      );

const followed = (
  ports: ApiSourcePorts,
  { nodeName, isNodeKnown$ }: ApiSourceOptions,
  kept: KnownPods | undefined,
): Observable<SourceEvent> =>
  defer(() => {
    const { scheduler, wallClock, lastKnown } = ports;
    const fieldSelector = `spec.nodeName=${nodeName}`;
    let objects = NO_POD_OBJECTS;
    const event$ = isNodeKnown$.pipe(
      filter((isKnown) => isKnown),
      take(1),
      // What goes wrong is a problem of this source, which is logged as such.
      concatMap(() =>
        reflector(
          { ...ports, log: SILENT },
          { path: podsPath(), fieldSelector, name: 'pods', ...(kept && { notOlderThan: kept.resourceVersion }) },
        ),
      ),
    );
    return event$.pipe(
      connect((shared$) => {
        const told$ = shared$.pipe(
          map((event): { readonly problems: readonly SourceEvent[]; readonly isChange: boolean } => {
            if (!isObjectsEvent(event)) return { problems: [connectionProblem(event)], isChange: false };
            const folded = foldPodObjects(objects, event);
            objects = folded.state;
            return { problems: folded.problems.map(sourceProblem), isChange: true };
          }),
          share(),
        );
        const known$ = told$.pipe(
          filter(({ isChange }) => isChange),
          throttleTime(0, scheduler, { leading: true, trailing: true }),
          map((): KnownPods => ({
            pods: [...objects.pods.values()],
            resourceVersion: objects.resourceVersion,
            at: wallClock(),
          })),
        );
        const listed$ = shared$.pipe(filter(({ kind }) => kind === 'replaced'));
        return merge(
          kept ? restored(ports, fieldSelector, kept).pipe(takeUntil(listed$)) : EMPTY,
          told$.pipe(concatMap(({ problems }) => from(problems))),
          lastKnown ? stored(lastKnown, kept, known$, ports) : known$.pipe(map(({ pods }) => podSet(pods))),
        );
      }),
    );
  });

const nothing = (): void => undefined;
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const isObjectsEvent = (event: ReflectorEvent): event is ObjectsEvent =>
  event.kind === 'replaced' || event.kind === 'put' || event.kind === 'deleted';

const connectionProblem = (event: ReflectorProblem | { readonly kind: 'recovered' }): SourceEvent =>
  event.kind === 'recovered'
    ? sourceProblem({ severity: 'info', message: 'pods of the API server are followed again', from: FROM })
    : sourceProblem({
        severity: event.severity,
        message: `pods of the API server could not be ${event.step === 'list' ? 'listed' : 'watched'}: ${errorText(event.error)}`,
        from: FROM,
      });

/** What an earlier agent kept; what cannot be read, or not in time, is as if it were not there. */
const readKept = (lastKnown: LastKnown, { scheduler }: ApiSourcePorts) =>
  defer(() => lastKnown.readPods()).pipe(
    timeout({
      first: DISK_LIMIT_MS,
      scheduler,
      with: () => throwError(() => new Error(`not within ${DISK_LIMIT_MS / 1_000} s`)),
    }),
    map((kept) => ({ kept: kept && { ...kept, pods: readablePods(kept.pods) }, problem: undefined })),
    catchError((error: unknown) =>
      of({
        kept: undefined,
        problem: { severity: 'warning' as const, message: `the last known pods cannot be read: ${errorText(error)}` },
      }),
    ),
    take(1),
  );

/** The kept pods as a set, once the API server is found to be away. */
const restored = (
  { api, scheduler, wallClock }: ApiSourcePorts,
  fieldSelector: string,
  kept: KnownPods,
): Observable<SourceEvent> => {
  const isAway$ = defer(() =>
    api.request({ method: 'GET', path: podsPath(), query: { fieldSelector, limit: '1' } }),
  ).pipe(
    timeout({ first: OFFLINE_ANSWER_MS, scheduler }),
    map(() => false),
    catchError((error: unknown) => of(!isRefusal(error))),
    take(1),
  );
  return timer(OFFLINE_AFTER_MS, scheduler).pipe(
    concatMap(() => isAway$),
    repeat(),
    filter((isAway) => isAway),
    take(1),
    concatMap(() => {
      const seconds = Math.max(0, Math.round((wallClock() - kept.at) / 1_000));
      const message = `the API server is away: going on with the pods that it had ${seconds} s ago (${kept.pods.length})`;
      return from([sourceProblem({ severity: 'warning', message, from: FROM }), podSet(kept.pods)]);
    }),
  );
};

/** The server has understood, and said no. One that cannot is as good as away, such as a proxy before nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== undefined && error.code < 500;

const stored = (
  { writePods }: LastKnown,
  kept: KnownPods | undefined,
  known$: Observable<KnownPods>,
  { scheduler }: ApiSourcePorts,
): Observable<SourceEvent> =>
  defer(() => {
    let hasFailed = false;
    const onDisk = kept?.pods.map(({ metadata }) => metadata.uid) ?? [];
    return known$.pipe(
      keepPods(writePods, onDisk, scheduler),
      concatMap((news): Observable<SourceEvent> => {
        if (news.kind === 'pods') return of(podSet(news.known.pods));
        const failedBefore = hasFailed;
        hasFailed = news.kind === 'not-kept';
        if (news.kind === 'kept')
          return failedBefore
            ? of(
                sourceProblem({
                  severity: 'info',
                  message: 'the pods of the API server can be kept again',
                  from: FROM_DISK,
                }),
              )
            : EMPTY;
        const message = `the pods of the API server cannot be kept for when it is away: ${errorText(news.error)}`;
        return of(sourceProblem({ severity: failedBefore ? 'debug' : 'warning', message, from: FROM_DISK }));
      }),
    );
  });

const FROM_DISK = 'last known pods';

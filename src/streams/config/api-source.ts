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
  type OperatorFunction,
  repeat,
  ReplaySubject,
  type SchedulerLike,
  share,
  take,
  takeUntil,
  throttleTime,
  timeout,
  timer,
} from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import { podsPath } from '../../model/kube-api/api-paths.js';
import {
  noPodObjects,
  notePodObjects,
  type ObjectsEvent,
  readKeptPods,
  readPod,
  type ReadPod,
} from '../../model/kube-api/pod-objects.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import type { ReflectorEvent, ReflectorProblem } from '../../model/reflector/reflector-event.js';
import { errorText } from '../../model/cri/cri-error.js';
import { podSet, type SourceEvent, type SourceProblem, sourceProblem } from '../../model/pod/pod-set.js';
import { inTurns } from '../operators/in-turns.js';
import { toMap } from '../operators/to-map.js';
import type { KnownPods, LastKnown } from '../ports/last-known.js';
import type { Logger } from '../ports/logger.js';
import type { WallClock } from '../ports/wall-clock.js';
import { DISK_LIMIT_MS, keepPods } from './keep-pods.js';
import type { ListWatchPorts } from '../reflector/list-watch.js';
import { reflector } from '../reflector/reflector.js';

/**
 * The time after the start, in milliseconds, from which the API server is checked by a request while there is no list. If that fails,
 * the server is away.
 */
export const OFFLINE_AFTER_MS = 10_000;
/** The time limit of that request, in milliseconds. */
export const OFFLINE_ANSWER_MS = 5_000;

export interface ApiSourcePorts extends ListWatchPorts {
  readonly wallClock: WallClock;
  /** Keeps pods for a start while the API server is away. Default: no pods are kept. */
  readonly lastKnown?: LastKnown;
}

export interface ApiSourceOptions {
  readonly nodeName: string;
  /**
   * Whether the agent has read its own Node, at once and after each change. Pods are not listed before, since admission needs the labels
   * and taints of the Node.
   */
  readonly isNodeKnown$: Observable<boolean>;
}

const FROM = 'API server: pods';
/** The number of pods of a list that are read in one turn; each takes some tenths of a millisecond. */
const MOST_AT_ONCE = 16;

/**
 * The pods that the API server has for a node: emits a set after the first list and after each change. A change is emitted at once, except
 * changes that follow another one within a millisecond, such as lines of a watch that arrive together: these become one set.
 *
 * If the API server does not answer after the start, the kept pods (`lastKnown`) are the set until its first list. They are not
 * used while a server answers, even with an error below 500: the pods may run elsewhere by then. The server is asked after a second
 * although a slow disk has not been read, and what is read later is used from then on.
 *
 * Errors: none; failures are values of the kind `problem`.
 * Ends:   never.
 * Source: pkg/kubelet/config/apiserver.go; the kept pods have no counterpart upstream
 */
export const apiSource = (ports: ApiSourcePorts, options: ApiSourceOptions): Observable<SourceEvent> =>
  ports.lastKnown === undefined
    ? followed(ports, options, NOTHING_KEPT, EMPTY)
    : afterKept(ports.lastKnown, ports, (first, later$) =>
        concat(from(first.problems.map(sourceProblem)), followed(ports, options, first, later$)),
      );

/** The pods that an earlier agent kept, if there are any, and what is wrong with them. */
interface KeptByEarlier {
  readonly kept?: KnownPods | undefined;
  readonly problems: readonly SourceProblem[];
}

const NOTHING_KEPT: KeptByEarlier = { problems: [] };

const followed = (
  ports: ApiSourcePorts,
  { nodeName, isNodeKnown$ }: ApiSourceOptions,
  { kept }: KeptByEarlier,
  later$: Observable<KeptByEarlier>,
): Observable<SourceEvent> =>
  defer(() => {
    const { scheduler, wallClock, lastKnown } = ports;
    const fieldSelector = `spec.nodeName=${nodeName}`;
    const objects = noPodObjects();
    const event$ = isNodeKnown$.pipe(
      filter((isKnown) => isKnown),
      take(1),
      // Failures become problems of this source, which are logged elsewhere.
      concatMap(() =>
        reflector(
          { ...ports, log: SILENT },
          { path: podsPath(), fieldSelector, name: 'pods', ...(kept && { notOlderThan: kept.resourceVersion }) },
        ),
      ),
    );
    return event$.pipe(
      readInTurns(scheduler),
      connect((shared$) => {
        const folded$ = shared$.pipe(
          map(({ event, read }): { readonly problems: readonly SourceEvent[]; readonly isChange: boolean } => {
            if (!isObjectsEvent(event)) return { problems: [connectionProblem(event)], isChange: false };
            return { problems: notePodObjects(objects, event, read).map(sourceProblem), isChange: true };
          }),
          share(),
        );
        const known$ = folded$.pipe(
          filter(({ isChange }) => isChange),
          throttleTime(0, scheduler, { leading: true, trailing: true }),
          map((): KnownPods => ({
            pods: [...objects.pods.values()],
            resourceVersion: objects.resourceVersion,
            at: wallClock(),
          })),
        );
        const listed$ = shared$.pipe(filter(({ event }) => event.kind === 'replaced'));
        const restored$ = kept
          ? restored(ports, fieldSelector, kept)
          : later$.pipe(
              concatMap(({ problems, kept: late }) =>
                concat(from(problems.map(sourceProblem)), late ? restored(ports, fieldSelector, late) : EMPTY),
              ),
            );
        return merge(
          restored$.pipe(takeUntil(listed$)),
          folded$.pipe(concatMap(({ problems }) => from(problems))),
          lastKnown ? stored(lastKnown, kept, known$, ports) : known$.pipe(map(({ pods }) => podSet(pods))),
        );
      }),
    );
  });

interface ReadEvent {
  readonly event: ReflectorEvent;
  readonly read: (object: ApiObject) => ReadPod;
}

/** Reads the pods of a long list in parts, with other work between them. Events after the list wait for its end. */
const readInTurns = (scheduler: SchedulerLike): OperatorFunction<ReflectorEvent, ReadEvent> => {
  const inTurn = inTurns({ most: MOST_AT_ONCE, scheduler });
  return concatMap((event): Observable<ReadEvent> => {
    if (event.kind !== 'replaced' || event.objects.length <= MOST_AT_ONCE) return of({ event, read: readPod });
    return from(event.objects).pipe(
      inTurn(),
      map((object) => [object, readPod(object)] as const),
      toMap(),
      map((found) => ({ event, read: (object) => found.get(object) ?? readPod(object) })),
    );
  });
};

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

/** Goes on with the pods that an earlier agent kept, after a second at the latest: then with none, and with those that are read later. */
const afterKept = <T>(
  lastKnown: LastKnown,
  { scheduler }: ApiSourcePorts,
  goOn: (first: KeptByEarlier, later$: Observable<KeptByEarlier>) => Observable<T>,
): Observable<T> =>
  defer(() => {
    // One read, also for who comes to it after the limit.
    const read$ = readKept(lastKnown).pipe(share({ connector: () => new ReplaySubject(1), resetOnComplete: false }));
    const late$ = timer(DISK_LIMIT_MS, scheduler).pipe(
      map(() => goOn(TOO_LATE, read$)),
      takeUntil(read$),
    );
    return merge(late$, read$.pipe(map((first) => goOn(first, EMPTY)))).pipe(
      take(1),
      concatMap((rest$) => rest$),
    );
  });

const TOO_LATE: KeptByEarlier = {
  problems: [
    {
      severity: 'warning',
      message: `the last known pods are not read within ${DISK_LIMIT_MS / 1_000} s: the API server is asked first`,
    },
  ],
};

/** Emits once the pods that an earlier agent kept; a problem if they cannot be read. */
const readKept = (lastKnown: LastKnown): Observable<KeptByEarlier> =>
  defer(() => lastKnown.readPods()).pipe(
    map((kept): KeptByEarlier => {
      const { pods, problems } = readKeptPods(kept?.pods ?? []);
      return { kept: kept && { ...kept, pods }, problems };
    }),
    catchError((error: unknown) => {
      const message = `the last known pods cannot be read: ${errorText(error)}`;
      return of<KeptByEarlier>({ problems: [{ severity: 'warning', message }] });
    }),
    take(1),
  );

/** Emits the kept pods as a set once the API server is away. */
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

/** The server understood the request and refused it. Status codes from 500 on count as away: a proxy without a server sends them. */
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

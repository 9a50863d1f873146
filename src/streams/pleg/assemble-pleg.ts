import { catchError, concat, EMPTY, mergeMap, NEVER, type Observable, observeOn, of, share, Subject, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { GENERIC_PLEG, type PlegEvent } from '../../model/pleg/pleg.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { Logger } from '../ports/logger.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { RuntimeHealth } from '../runtime-health/runtime-health.js';
import type { LoopContext } from '../sync-loop/loop-context.js';
import { observePleg } from '../sync-loop/observe-pleg.js';
import { observeRuntimeEvents } from '../sync-loop/observe-runtime-events.js';
import { runningPods, runningPodsInCache } from '../sync-loop/running-pods.js';
import { pleg, type PlegOptions } from './pleg.js';
import type { PlegRequests } from './pleg-requests.js';
import { cadenceOfEvents } from './relist-cadence.js';
import { runtimeEvents } from './runtime-events.js';
import type { RuntimeReader } from './runtime-reader.js';

export interface AssemblePlegOptions extends Pick<PlegOptions, 'cache'> {
  readonly context: LoopContext;
  readonly runtime: Pick<RuntimeService, 'containerEvents'>;
  readonly reader: RuntimeReader;
  readonly health: Pick<RuntimeHealth, 'relisted' | 'setCadence' | 'cadence'>;
  readonly requests: Pick<PlegRequests, 'hints' | 'relistRequest$' | 'viewRequest$'>;
  /** Relists are rare while the stream of the runtime's events is open. */
  readonly eventedPleg: boolean;
}

export interface AssembledPleg {
  readonly pleg$: Observable<PlegEvent>;
  /** The options of `pleg$`. */
  readonly options: PlegOptions;
  /** The pods of each successful relist. */
  readonly relist$: Observable<readonly RuntimePod[]>;
  /** The pods of the last successful relist; none before the first. */
  readonly listedPods: () => readonly RuntimePod[];
  /** Whether a relist has succeeded. */
  readonly hasListed: () => boolean;
  /** The running pods, once, for housekeeping. Errors: none; emits nothing if the pods cannot be listed. */
  readonly running: () => Observable<readonly RuntimePod[]>;
}

/** Connects the PLEG of a node to its runtime, its cache, its workers' requests, health and metrics. */
export const assemblePleg = ({
  context,
  runtime,
  reader,
  cache,
  health,
  requests,
  eventedPleg,
}: AssemblePlegOptions): AssembledPleg => {
  const { scheduler } = context;
  const relist$ = new Subject<readonly RuntimePod[]>();
  let listed: { readonly pods: readonly RuntimePod[]; readonly unread: readonly string[] } | undefined;
  const news$ = runtimeEvents(() => runtime.containerEvents(), scheduler).pipe(
    tap(observeRuntimeEvents(context)),
    share(),
  );
  const cadence$ = eventedPleg ? cadenceOfEvents(news$) : concat(of(GENERIC_PLEG), NEVER);
  const options: PlegOptions = {
    reader,
    cache,
    hint$: news$.pipe(mergeMap(requests.hints)),
    cadence$: cadence$.pipe(tap(health.setCadence)),
    relistRequest$: requests.relistRequest$.pipe(
      // From the request on, not from the hop on, relists do not count for this pod.
      tap(cache.hold),
      observeOn(scheduler),
    ),
    viewRequest$: requests.viewRequest$.pipe(observeOn(scheduler)),
    observe: observePleg(context, (pods, at) => {
      health.relisted(at);
      const entries = cache.entries();
      listed = { pods, unread: pods.flatMap(({ uid }) => (entries.has(uid) ? [] : uid)) };
      relist$.next(pods);
    }),
    scheduler,
  };
  const isWorkedOn = (uid: string): boolean => context.state.workers.record(uid) !== undefined;
  const list = () => listRunning(reader, context.log);
  return {
    pleg$: pleg(options),
    options,
    relist$,
    listedPods: () => listed?.pods ?? [],
    hasListed: () => listed !== undefined,
    running: () =>
      health.cadence() === GENERIC_PLEG
        ? runningPods(relist$, list, scheduler)
        : runningPodsInCache({ cache, unread: () => listed?.unread, isWorkedOn, list }),
  };
};

/** Lists the running pods for housekeeping; logs a listing that fails, and completes. */
const listRunning = (reader: RuntimeReader, log: Logger): Observable<readonly RuntimePod[]> =>
  reader.listPods('running').pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'housekeeping is skipped: cannot list the pods of the runtime');
      return EMPTY;
    }),
  );

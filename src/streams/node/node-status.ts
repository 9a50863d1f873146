import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  type Observable,
  of,
  repeat,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isNotFound } from '../../model/kube-api/api-error.js';
import { errorText } from '../../model/cri/cri-error.js';
import { conditionOf, isNodeReady, type Node } from '../../model/node/node.js';
import { every } from '../operators/every.js';
import { inSlots } from '../operators/in-slots.js';
import type { NodeView } from './node-view.js';
import { type StatusWriter, statusWriter, type StatusWriterOptions } from './status-writer.js';

/** Attempts of one round, without a wait between them. Source: pkg/kubelet/kubelet.go nodeStatusUpdateRetry */
export const NODE_STATUS_TRIES = 5;
/** The largest share of a period by which a round is late, at random, so that the rounds of many nodes are spread. */
export const NODE_STATUS_JITTER = 0.04;
/** The period in which a starting node checks whether it is ready, and the limit of these checks. Source: pkg/kubelet/kubelet.go. Milliseconds. */
export const FAST_PERIOD_MS = 100;
export const FAST_LIMIT_MS = 120_000;

export interface NodeStatusOptions extends StatusWriterOptions {
  readonly view: Pick<NodeView, 'node' | 'note' | 'deleted$'>;
  /** Reads the status of the runtime and completes; emits nothing. Errors: none. */
  readonly checkRuntime$: Observable<never>;
  /** Emits when the machine begins to shut down. */
  readonly shutdown$: Observable<unknown>;
  /** Registers the Node and completes; absent if the agent does not create it. */
  readonly register$?: Observable<never>;
  /** The time from the end of a round to the start of the next, before jitter, in milliseconds. */
  readonly updateFrequencyMs: number;
  /** Called after repeated failures of heartbeats: connections may be dead without an error. */
  readonly resetConnections: () => void;
}

/**
 * Keeps the status of the Node up to date. A round runs at once and then 10 s (and up to 4 % more) after each round; it writes the status
 * if more than the heartbeat has changed, and every 5 min in any case. While a node starts it is checked every 100 ms, until it is ready
 * or 120 s have passed. A shutdown of the machine is written at once. A Node that was deleted is registered again, which a kubelet only does when it starts.
 *
 * Errors: none; failures are logged and retried, at first at once, then in the next round.
 * Ends:   never.
 * Source: pkg/kubelet/kubelet_node_status.go syncNodeStatus
 */
export const nodeStatus = (options: NodeStatusOptions): Observable<never> =>
  defer(() => {
    const { view, settings, checkRuntime$, shutdown$, register$, updateFrequencyMs } = options;
    const { resetConnections, log, random, scheduler } = options;
    const { nodeName: node } = settings;
    const inTurn = inSlots({ count: 1, scheduler });
    const writer = statusWriter(options);
    let isRegistered = register$ === undefined;

    const registered$ = defer(() => (isRegistered || !register$ ? EMPTY : register$)).pipe(
      tap({ complete: () => (isRegistered = true) }),
    );

    /** Writes the status, at once again after a failure. Errors: that of the last try; all have failed. */
    const write = (tries = 1): Observable<never> =>
      defer(() => writer.attempt(tries - 1)).pipe(
        catchError((error: unknown) => {
          log.error({ node, error: errorText(error) }, 'the status of the Node could not be written');
          if (tries > 1) resetConnections();
          // The first attempt uses the Node of the watch, which may not have it yet.
          if (tries > 1 && register$ && isNotFound(error)) isRegistered = false;
          if (tries >= NODE_STATUS_TRIES) return throwError(() => error);
          return concat(registered$, write(tries + 1));
        }),
      );
    const round$ = concat(registered$, write()).pipe(
      catchError((error: unknown) => {
        log.error({ node, error: errorText(error) }, 'the status of the Node is not up to date: all attempts failed');
        return EMPTY;
      }),
    );

    const deleted$ = view.deleted$.pipe(
      tap(() => {
        if (!register$) return;
        isRegistered = false;
        log.warn({ node }, 'the Node has been deleted, and is registered again');
      }),
    );
    const rounds$ = round$.pipe(
      inTurn(),
      repeat({
        delay: () => {
          const due$ = timer(updateFrequencyMs * (1 + NODE_STATUS_JITTER * random()), scheduler);
          return merge(due$, deleted$).pipe(take(1));
        },
      }),
    );
    const atShutdown$ = shutdown$.pipe(concatMap(() => round$.pipe(inTurn())));
    return merge(concat(checkRuntime$, rounds$), untilReady(options, writer, round$, inTurn()), atShutdown$);
  });

/**
 * Checks every 100 ms whether the node has become ready, and writes that at once.
 *
 * Errors: none.
 * Ends:   once the API server has the node as ready, or after 120 s.
 * Source: pkg/kubelet/kubelet.go fastStatusUpdateOnce, pkg/kubelet/kubelet_node_status.go fastNodeStatusUpdate
 */
const untilReady = (
  { view, settings, checkRuntime$, log, scheduler }: NodeStatusOptions,
  writer: StatusWriter,
  round$: Observable<never>,
  inTurn: (check$: Observable<true>) => Observable<true>,
): Observable<never> =>
  defer(() => {
    const { nodeName: node } = settings;
    const startedAt = scheduler.now();
    const logFailure = (error: unknown): void =>
      log.error({ node, error: errorText(error) }, 'the status of the Node could not be written at once');

    /** Writes the status if it shows the node as ready, and emits at the end of that write. */
    const writeIfReady = (original: Node): Observable<true> =>
      defer(() => writer.update(original)).pipe(
        catchError((error: unknown) => {
          logFailure(error);
          return EMPTY;
        }),
        concatMap((update) => {
          if (!update.isChanged || !isNodeReady(update.node)) return EMPTY;
          const written$ = writer.write(original, update).pipe(
            catchError((error: unknown) => {
              logFailure(error);
              // The Node of the watch may be out of date; a round reads it again.
              return round$;
            }),
          );
          return concat(written$, of(true as const));
        }),
      );

    /** Checks once; emits at the end of the last check. */
    const check$ = defer((): Observable<true> => {
      if (scheduler.now() - startedAt >= FAST_LIMIT_MS) {
        log.error({ node }, 'the node has not become ready in time after its start');
        return of(true);
      }
      const original = view.node();
      const ready = original && conditionOf(original, 'Ready');
      if (!ready) return EMPTY;
      return ready.status === 'True' ? of(true) : concat(checkRuntime$, writeIfReady(original));
    });
    return every({ periodMs: FAST_PERIOD_MS, scheduler }, () => check$.pipe(inTurn)).pipe(take(1), ignoreElements());
  });

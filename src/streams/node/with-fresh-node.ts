import {
  catchError,
  concat,
  defer,
  EMPTY,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type SchedulerLike,
  takeUntil,
  timer,
} from 'rxjs';
import { afterRead, type HeldPods, NO_SET, releasedPods, withRead, withSet } from '../../model/admission/held-pods.js';
import type { Node } from '../../model/node/node.js';
import { podSet, type SourceEvent } from '../../model/pod/pod-set.js';

/** The longest time that a pod waits for a read of the Node, in milliseconds. Then the known Node counts. */
export const FRESH_NODE_TIMEOUT_MS = 2_000;

export interface FreshNodeOptions {
  /** The known Node. */
  readonly node: () => Node | undefined;
  /** Reads the Node, so that `node` is new, and completes. Errors: it cannot be read. */
  readonly refresh$: Observable<never>;
  readonly scheduler: SchedulerLike;
}

/**
 * Holds a new pod whose selectors do not match the known Node until the Node has been read: pods and Nodes arrive by different
 * watches, and a label that a pod needs may arrive after the pod. All other pods are emitted at once, and so is the first
 * set, whose pods may run already.
 *
 * Errors: those of the source. If the Node cannot be read, the known Node counts.
 * Ends:   with the source.
 * Source: pkg/kubelet/lifecycle/predicate.go generalFilter, which reads the Node while all pods wait
 */
export const withFreshNode =
  ({ node, refresh$, scheduler }: FreshNodeOptions): MonoTypeOperatorFunction<SourceEvent> =>
  (source) =>
    defer(() => {
      let newest: HeldPods = NO_SET;
      const newestSet = (): SourceEvent => podSet(releasedPods(newest));

      const read$ = refresh$.pipe(
        catchError(() => EMPTY),
        takeUntil(timer(FRESH_NODE_TIMEOUT_MS, scheduler)),
      );
      /** Reads the Node if pods wait for it, emits the set with them, and reads again for pods that arrived meanwhile. */
      const release$: Observable<SourceEvent> = defer(() => {
        const before = newest;
        newest = withRead(before);
        if (newest === before) return EMPTY;
        const released$ = defer(() => {
          newest = afterRead(newest);
          return concat(of(newestSet()), release$);
        });
        return concat(read$, released$);
      });

      return source.pipe(
        mergeMap((event): Observable<SourceEvent> => {
          if (event.kind !== 'set') return of(event);
          newest = withSet(newest, event.pods, node());
          return concat(of(newestSet()), release$);
        }),
      );
    });

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
import { selectsNode } from '../../model/admission/node-affinity.js';
import type { Node } from '../../model/node/node.js';
import { isTerminalPhase, type Pod } from '../../model/pod/pod.js';
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
      let latest: readonly Pod[] | undefined;
      let held: ReadonlySet<string> = new Set();
      let isReading = false;
      let passed: ReadonlySet<string> = new Set();

      /** The pods of the newest set that are not held. */
      const newestSet = (isHeldBack: (pod: Pod) => boolean): SourceEvent => {
        const pods = latest ?? [];
        held = new Set(pods.filter(isHeldBack).map(({ metadata }) => metadata.uid));
        const through = pods.filter(({ metadata }) => !held.has(metadata.uid));
        passed = new Set(through.map(({ metadata }) => metadata.uid));
        return podSet(through);
      };

      const release$: Observable<SourceEvent> = defer(() => {
        if (isReading || held.size === 0) return EMPTY;
        isReading = true;
        const waiting = new Set(held);
        const released$ = defer(() => {
          isReading = false;
          // The pods that arrived meanwhile may be newer than the Node that was read.
          return concat(
            of(newestSet(({ metadata }) => held.has(metadata.uid) && !waiting.has(metadata.uid))),
            release$,
          );
        });
        return concat(
          refresh$.pipe(
            catchError(() => EMPTY),
            takeUntil(timer(FRESH_NODE_TIMEOUT_MS, scheduler)),
          ),
          released$,
        );
      });

      return source.pipe(
        mergeMap((event): Observable<SourceEvent> => {
          if (event.kind !== 'set') return of(event);
          const isFirst = latest === undefined;
          latest = event.pods;
          const isHeldBack = (pod: Pod) => !isFirst && !passed.has(pod.metadata.uid) && isDoubtful(pod, node());
          return concat(of(newestSet(isHeldBack)), release$);
        }),
      );
    });

/** A pod that has not started yet and whose selectors do not match the known Node. */
const isDoubtful = ({ metadata, spec, status }: Pod, node: Node | undefined): boolean =>
  node !== undefined &&
  metadata.deletionTimestamp === undefined &&
  status?.startTime === undefined &&
  !isTerminalPhase(status?.phase) &&
  !selectsNode(spec, { name: node.metadata.name, labels: node.metadata.labels ?? {} });

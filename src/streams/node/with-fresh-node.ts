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
import { isTerminalPhase, type Pod } from '../../model/pod.js';
import { podSet, type SourceEvent } from '../../model/pod-set.js';

/** A pod waits no longer for the Node to be read; then it is judged by the one that is known. Milliseconds. */
export const FRESH_NODE_TIMEOUT_MS = 2_000;

export interface FreshNodeOptions {
  /** The Node as it is known now. */
  readonly node: () => Node | undefined;
  /** Reads the Node, so that `node` is new, and ends. Errors: it could not be read. */
  readonly refresh$: Observable<never>;
  readonly scheduler: SchedulerLike;
}

/**
 * Holds a new pod back that does not want a node such as this one, until the Node has been read: pods and Nodes come by different
 * watches, and a label that a pod was placed for may come after the pod. All other pods go on at once, and so does everything in
 * the first set, which may run already.
 *
 * Errors: those of the source; a Node that cannot be read is taken as it is known.
 * Ends:   with the source.
 * Source: pkg/kubelet/lifecycle/predicate.go generalFilter, which reads the Node while everybody waits
 */
export const withFreshNode =
  ({ node, refresh$, scheduler }: FreshNodeOptions): MonoTypeOperatorFunction<SourceEvent> =>
  (source) =>
    defer(() => {
      let latest: readonly Pod[] | undefined;
      let held: readonly string[] = [];
      let isReading = false;
      let passed: ReadonlySet<string> = new Set();

      /** What goes on of the newest set. */
      const pass = (isHeldBack: (pod: Pod) => boolean): SourceEvent => {
        const pods = latest ?? [];
        held = pods.flatMap((pod) => (isHeldBack(pod) ? [pod.metadata.uid] : []));
        const through = pods.filter(({ metadata }) => !held.includes(metadata.uid));
        passed = new Set(through.map(({ metadata }) => metadata.uid));
        return podSet(through);
      };

      const release$: Observable<SourceEvent> = defer(() => {
        if (isReading || held.length === 0) return EMPTY;
        isReading = true;
        const waiting = new Set(held);
        const released$ = defer(() => {
          isReading = false;
          // Those that came meanwhile may be newer than what was read.
          return concat(
            of(pass(({ metadata }) => held.includes(metadata.uid) && !waiting.has(metadata.uid))),
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
          return concat(of(pass(isHeldBack)), release$);
        }),
      );
    });

/** A pod that nobody has started yet, and that wants another node than what is known of this one. */
const isDoubtful = ({ metadata, spec, status }: Pod, node: Node | undefined): boolean =>
  node !== undefined &&
  metadata.deletionTimestamp === undefined &&
  status?.startTime === undefined &&
  !isTerminalPhase(status?.phase) &&
  !selectsNode(spec, { name: node.metadata.name, labels: node.metadata.labels ?? {} });

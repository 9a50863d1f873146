import type { Node } from '../node/node.js';
import { isTerminalPhase, type Pod } from '../pod/pod.js';
import { selectsNode } from './node-affinity.js';

/** The newest set of pods of a source, and the pods of it that wait until the Node has been read. */
export interface HeldPods {
  /** All pods of the set; undefined before the first set. */
  readonly pods: readonly Pod[] | undefined;
  /** The UIDs of the pods that wait. */
  readonly held: ReadonlySet<string>;
  /** The UIDs of the pods that the read in progress is for; undefined while the Node is not read. */
  readonly read: ReadonlySet<string> | undefined;
}

/** No set has arrived. */
export const NO_SET: HeldPods = { pods: undefined, held: new Set(), read: undefined };

/**
 * Takes the next set. Holds each pod whose selectors do not match the known Node, except those of the first set, which may run already,
 * and those that were released before.
 *
 * Source: pkg/kubelet/lifecycle/predicate.go generalFilter
 */
export const withSet = (before: HeldPods, pods: readonly Pod[], node: Node | undefined): HeldPods => {
  const released = before.pods && uidsOf(releasedPods(before));
  const held = pods.filter((pod) => released && !released.has(pod.metadata.uid) && isDoubtful(pod, node));
  return { ...before, pods, held: uidsOf(held) };
};

/** Begins a read of the Node for the held pods. Returns the same value if no pod waits, or if the Node is read already. */
export const withRead = (before: HeldPods): HeldPods =>
  before.read || before.held.size === 0 ? before : { ...before, read: before.held };

/** Releases the pods that the read was for, since it has ended. Pods that arrived meanwhile may be newer than the Node that was read. */
export const afterRead = ({ pods, held, read }: HeldPods): HeldPods => ({
  pods,
  held: new Set([...held].filter((uid) => !read?.has(uid))),
  read: undefined,
});

/** The pods of the set that are not held. */
export const releasedPods = ({ pods = [], held }: HeldPods): readonly Pod[] =>
  pods.filter(({ metadata }) => !held.has(metadata.uid));

const uidsOf = (pods: readonly Pod[]): ReadonlySet<string> => new Set(pods.map(({ metadata }) => metadata.uid));

/** Whether a pod has not started yet, and its selectors do not match the known Node. */
const isDoubtful = ({ metadata, spec, status }: Pod, node: Node | undefined): boolean =>
  node !== undefined &&
  metadata.deletionTimestamp === undefined &&
  status?.startTime === undefined &&
  !isTerminalPhase(status?.phase) &&
  !selectsNode(spec, { name: node.metadata.name, labels: node.metadata.labels ?? {} });

import type { Taint } from '../node/node.js';
import type { SelectableNode } from './node-affinity.js';

/** The facts of a node that admission checks. */
export interface AdmissionFacts extends SelectableNode {
  /** Quantities by resource name. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** The labels and taints of the Node; none without an API server. */
  readonly taints?: readonly Taint[];
  /**
   * The labels and taints are those that the agent would create its Node with, since no Node has been received since
   * the start.
   */
  readonly isProvisional?: boolean;
  /** Such as `6.1.0-13-amd64`; empty if unknown. */
  readonly kernelVersion: string;
  readonly allowedUnsafeSysctls: readonly string[];
  readonly hasAppArmor: boolean;
  /** The features of the runtime; absent until it has reported them. */
  readonly hasSupplementalGroupsPolicy?: boolean;
}

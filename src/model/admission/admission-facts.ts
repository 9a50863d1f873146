import type { Taint } from '../node/node.js';
import type { SelectableNode } from './node-affinity.js';

/** What a node has that pods may ask for. */
export interface AdmissionFacts extends SelectableNode {
  /** Quantities by resource name. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** Of the Node; none without an API server. */
  readonly taints?: readonly Taint[];
  /** Labels and taints are what the agent would give its Node: what the API server has was not heard since the start. */
  readonly isProvisional?: boolean;
  /** Such as `6.1.0-13-amd64`; empty when it is not known. */
  readonly kernelVersion: string;
  readonly allowedUnsafeSysctls: readonly string[];
  readonly hasAppArmor: boolean;
  /** Of the runtime; absent until it has told. */
  readonly hasSupplementalGroupsPolicy?: boolean;
}

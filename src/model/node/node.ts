import type { V1NodeCondition, V1NodeSpec, V1NodeStatus, V1ObjectMeta, V1Taint } from '@kubernetes/client-node';
import type { ApiObject } from '../kube-api/api-object.js';
import type { Json } from '../pod/pod.js';

/** A status with the field that the client library does not know yet. */
export type NodeStatus = Json<V1NodeStatus> & {
  /** The features that pods and clients may require of the node, sorted. */
  readonly declaredFeatures?: readonly string[];
};
export type NodeCondition = Json<V1NodeCondition>;
export type NodeAddress = NonNullable<NodeStatus['addresses']>[number];
export type Taint = Json<V1Taint>;

/** A Node of the API; fields that this agent does not know stay in it. */
export interface Node extends ApiObject {
  readonly metadata: Json<V1ObjectMeta> & { readonly name: string };
  readonly spec?: Json<V1NodeSpec>;
  readonly status?: NodeStatus;
}

export const conditionOf = ({ status }: Node, type: string): NodeCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

export const isNodeReady = (node: Node): boolean => conditionOf(node, 'Ready')?.status === 'True';

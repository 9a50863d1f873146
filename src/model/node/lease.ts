import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { ApiObject } from '../api/api-object.js';
import type { Json } from '../pod.js';
import type { Node } from './node.js';

/** Where the leases of nodes are. */
export const NODE_LEASES = 'kube-node-lease';

export interface Lease extends ApiObject {
  readonly metadata: Json<V1ObjectMeta>;
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    /** With microseconds, unlike other times of the API. */
    readonly renewTime?: string;
  };
}

/**
 * The lease as it is renewed now: `base` is what it was, undefined to make it. `owner` is the Node, where the lease does not name
 * it yet: it goes with its Node.
 *
 * Source: staging/src/k8s.io/component-helpers/apimachinery/lease/controller.go newLease, pkg/kubelet/util/nodelease.go
 */
export const renewedLease = (
  base: Lease | undefined,
  {
    nodeName,
    durationSeconds,
    owner,
    now,
  }: {
    readonly nodeName: string;
    readonly durationSeconds: number;
    readonly owner: Node | undefined;
    /** Unix milliseconds. */
    readonly now: number;
  },
): Lease => {
  const ownerReferences = owner
    ? [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: owner.metadata.uid ?? '' }]
    : undefined;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    ...base,
    metadata: {
      ...(base?.metadata ?? { name: nodeName, namespace: NODE_LEASES }),
      ...(ownerReferences && { ownerReferences }),
    },
    spec: {
      ...(base?.spec ?? { holderIdentity: nodeName }),
      leaseDurationSeconds: durationSeconds,
      renewTime: microTime(now),
    },
  };
};

/** Whether it goes with the Node of that UID; with any, as long as nobody knows the UID. */
export const hasOwner = (lease: Lease | undefined, nodeUid: string | undefined): boolean =>
  (lease?.metadata.ownerReferences ?? []).some(
    ({ kind, uid }) => kind !== 'Node' || nodeUid === undefined || uid === nodeUid,
  );

const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z');

import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { ApiObject } from '../kube-api/api-object.js';
import type { Json } from '../pod/pod.js';
import type { Node } from './node.js';

/** The namespace of the leases of nodes. */
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
 * Returns the renewed lease: `base` is the lease before, undefined to create it. `owner` is the Node, if the lease does
 * not name it yet: the lease is deleted with its Node.
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

/** Whether the Node of this UID owns the lease; any Node does while the UID is unknown. */
export const hasOwner = (lease: Lease | undefined, nodeUid: string | undefined): boolean =>
  (lease?.metadata.ownerReferences ?? []).some(
    ({ kind, uid }) => kind !== 'Node' || nodeUid === undefined || uid === nodeUid,
  );

const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z');

import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, type Pod, podFullName } from './pod.js';

/** The Node object that owns a mirror pod. */
export interface NodeIdentity {
  readonly name: string;
  readonly uid: string;
}

/**
 * Whether `mirror` is the mirror pod of the current version of the static pod. Source: pkg/kubelet/pod/mirror_client.go
 * IsMirrorPodOf
 */
export const isMirrorOf = (mirror: Pod, pod: Pod): boolean =>
  podFullName(mirror) === podFullName(pod) && mirror.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] === hashOf(pod);

/** The hash of a static pod's content, from its source. */
const hashOf = ({ metadata }: Pod): string | undefined => metadata.annotations?.[CONFIG_HASH_ANNOTATION];

/**
 * Returns the mirror pod of a static pod. The Node owns it, so that it is deleted with the Node.
 *
 * Source: pkg/kubelet/pod/mirror_client.go CreateMirrorPod
 */
export const mirrorOf = (pod: Pod, node: NodeIdentity): object => {
  const { name, namespace, labels, annotations } = pod.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [CONFIG_MIRROR_ANNOTATION]: hashOf(pod) ?? '' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    spec: { ...pod.spec, nodeName: node.name },
  };
};

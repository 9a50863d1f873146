import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, type Pod, podFullName } from './pod.js';

/** The node object that a mirror belongs to. */
export interface NodeIdentity {
  readonly name: string;
  readonly uid: string;
}

/** Whether `mirror` stands for the static pod as it is now. Source: pkg/kubelet/pod/mirror_client.go IsMirrorPodOf */
export const isMirrorOf = (mirror: Pod, pod: Pod): boolean =>
  podFullName(mirror) === podFullName(pod) && mirror.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] === hashOf(pod);

/** What a static pod's source says of its content. */
export const hashOf = ({ metadata }: Pod): string | undefined => metadata.annotations?.[CONFIG_HASH_ANNOTATION];

/**
 * The object that stands for a static pod in the API. It belongs to the node, so that it goes with it.
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

import type { Container, Pod, PodRef } from '../pod/pod.js';
import type { RuntimePodStatus } from '../pleg/runtime-pod.js';
import { parseContainerAnnotations } from './labels.js';

/**
 * Restores a pod that only the runtime has, from the annotations of its containers: enough to stop it as its spec
 * requested.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go restoreSpecsFromContainerLabels
 */
export const restoredPod = ({ uid, name, namespace }: PodRef, { containers }: RuntimePodStatus): Pod => {
  const specs = new Map<string, Container>();
  let graceSeconds: number | undefined;
  let deletionGraceSeconds: number | undefined;
  for (const instance of containers) {
    if (specs.has(instance.name)) continue;
    const { preStop, ports, ...periods } = parseContainerAnnotations(instance.annotations);
    specs.set(instance.name, { name: instance.name, image: instance.image, ports, lifecycle: preStop && { preStop } });
    graceSeconds ??= periods.terminationGracePeriodSeconds;
    deletionGraceSeconds ??= periods.deletionGracePeriodSeconds;
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid, name, namespace, deletionGracePeriodSeconds: deletionGraceSeconds },
    spec: { containers: [...specs.values()], terminationGracePeriodSeconds: graceSeconds },
  };
};

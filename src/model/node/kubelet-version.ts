import { KUBERNETES_VERSION } from './kubernetes-version.js';

/**
 * Returns the Node's `kubeletVersion`: the release of Kubernetes that the agent implements, with the agent as build
 * metadata, such as `v1.37.0+rx-kubelet.0.5.0`. Readers of the field (the autoscaler, kubeadm's checks, the version
 * skew of controllers and `kubectl drain`) parse it as a semantic version and compare the numbers. They ignore build
 * metadata, whereas a suffix after `-` would make it older than the release.
 */
export const kubeletVersion = (agentVersion: string): string =>
  `v${KUBERNETES_VERSION}.0+rx-kubelet.${agentVersion.replaceAll(/[^0-9A-Za-z.-]/g, '-')}`;

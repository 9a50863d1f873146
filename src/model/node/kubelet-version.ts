import { KUBERNETES_VERSION } from '../kubernetes-version.js';

/**
 * What the Node says its kubelet is: the release of Kubernetes that the agent behaves like, with the agent itself as the metadata
 * of the build, such as `v1.36.0+rx-kubelet.0.5.0`. Whoever reads the field of a Node (the autoscaler, kubeadm's checks, the skew
 * that controllers and `kubectl drain` allow for) parses it as a semantic version and compares the numbers; metadata of a build
 * does not count there, whereas what follows a `-` would make it older than the release.
 */
export const kubeletVersion = (agentVersion: string): string =>
  `v${KUBERNETES_VERSION}.0+rx-kubelet.${agentVersion.replaceAll(/[^0-9A-Za-z.-]/g, '-')}`;

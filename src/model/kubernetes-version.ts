/** The release of Kubernetes whose kubelet this agent follows; servers see it in the name of the agent. */
export const KUBERNETES_VERSION = '1.36';

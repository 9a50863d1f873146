/** The release of Kubernetes whose kubelet this agent implements; servers see it in the agent's user agent. */
export const KUBERNETES_VERSION = '1.37';

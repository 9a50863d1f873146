import type { Pod } from '../pod/pod.js';

/** Source: pkg/kubelet/kubelet_pods.go truncatePodHostnameIfNeeded: a DNS label; pkg/kubelet/util/util.go: the kernel's limit. */
const [LABEL_LENGTH, KERNEL_LENGTH] = [63, 64];

export interface PodHostname {
  readonly hostname: string;
  /** The name of a pod with a subdomain; else empty. */
  readonly domain: string;
}

/** Source: pkg/kubelet/kubelet_pods.go GeneratePodHostNameAndDomain. */
export const podHostname = ({ metadata, spec }: Pod, clusterDomain: string): PodHostname => {
  if (spec.hostnameOverride) return { hostname: cut(spec.hostnameOverride), domain: '' };
  return {
    hostname: cut(spec.hostname || metadata.name),
    domain: spec.subdomain ? `${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}` : '',
  };
};

/**
 * Returns the host name for the kernel of the pod. Errors: throws if the full name is requested and too long.
 * Source: pkg/kubelet/util/util.go GetNodenameForKernel.
 */
export const kernelHostname = (pod: Pod, clusterDomain: string): string => {
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (!pod.spec.setHostnameAsFQDN || domain === '') return hostname;
  const full = `${hostname}.${domain}`;
  if (full.length <= KERNEL_LENGTH) return full;
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${KERNEL_LENGTH} characters is the max, ${full.length} characters requested)`,
  );
};

const cut = (name: string): string =>
  name.length > LABEL_LENGTH ? name.slice(0, LABEL_LENGTH).replace(/[-.]+$/, '') : name;

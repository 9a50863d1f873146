import type { Pod } from '../pod.js';

/** Source: pkg/kubelet/kubelet_pods.go truncatePodHostnameIfNeeded: a DNS label; pkg/kubelet/util/util.go: the kernel's limit. */
const [LABEL_LENGTH, KERNEL_LENGTH] = [63, 64];

export interface PodHostname {
  readonly hostname: string;
  /** Of a pod with a subdomain; else empty. */
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
 * What the kernel of the pod is told. Errors: throws when the full name is wanted and too long.
 * Source: pkg/kubelet/util/util.go GetNodenameForKernel.
 */
export const kernelHostname = (pod: Pod, clusterDomain: string): string => {
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (!pod.spec.setHostnameAsFQDN || domain === '') return hostname;
  const full = `${hostname}.${domain}`;
  if (full.length <= KERNEL_LENGTH) return full;
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${KERNEL_LENGTH} is the max, ${full.length} characters requested)`,
  );
};

const cut = (name: string): string =>
  name.length > LABEL_LENGTH ? name.slice(0, LABEL_LENGTH).replace(/[-.]+$/, '') : name;

import { fieldPaths } from './field-paths.js';

/** Flags of the kubelet whose letters are not those of their field. Source: AddKubeletConfigFlags in cmd/kubelet/app/options/options.go. */
export const OTHERWISE_NAMED: Readonly<Record<string, string>> = {
  '--authentication-token-webhook-cache-ttl': 'authentication.webhook.cacheTTL',
  '--contention-profiling': 'enableContentionProfiling',
  '--image-gc-high-threshold': 'imageGCHighThresholdPercent',
  '--image-gc-low-threshold': 'imageGCLowThresholdPercent',
  '--kube-api-content-type': 'contentType',
  '--log-flush-frequency': 'logging.flushFrequency',
  '--minimum-image-ttl-duration': 'imageMinimumGCAge',
  '--pod-max-pids': 'podPidsLimit',
  '--registry-qps': 'registryPullQPS',
  '--reserved-cpus': 'reservedSystemCPUs',
  '--vmodule': 'logging.vmodule',
};

/** Returns the field of the configuration that has the meaning of a flag of the kubelet, such as `clusterDNS` for `--cluster-dns`. */
export const fieldOfFlag = (flag: string): string | undefined => {
  const letters = lettersOf(flag);
  return OTHERWISE_NAMED[flag] ?? fieldPaths().find((path) => lettersOf(path) === letters);
};

const lettersOf = (name: string): string => name.replace(/[-.]/g, '').toLowerCase();

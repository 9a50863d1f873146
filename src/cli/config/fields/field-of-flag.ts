import { fieldPaths } from './field-paths.js';

/** Flags of the kubelet whose letters are not those of their field. Source: AddKubeletConfigFlags in cmd/kubelet/app/options/options.go, AddFlags in component-base/logs/api/v1/options.go. */
export const OTHERWISE_NAMED: Readonly<Record<string, string>> = {
  '--authentication-token-webhook-cache-ttl': 'authentication.webhook.cacheTTL',
  '--contention-profiling': 'enableContentionProfiling',
  '--image-gc-high-threshold': 'imageGCHighThresholdPercent',
  '--image-gc-low-threshold': 'imageGCLowThresholdPercent',
  '--kube-api-content-type': 'contentType',
  '--log-flush-frequency': 'logging.flushFrequency',
  '--log-json-info-buffer-size': 'logging.options.json.infoBufferSize',
  '--log-json-split-stream': 'logging.options.json.splitStream',
  '--log-text-info-buffer-size': 'logging.options.text.infoBufferSize',
  '--log-text-split-stream': 'logging.options.text.splitStream',
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

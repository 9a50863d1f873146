import { parseGoDuration } from '../../../model/values/go-duration.js';
import { isJsonObject, type JsonObject } from './merge-patch.js';

/**
 * Fields that a kubelet holds by value and not by pointer: zero, or an empty text, means an absent field, and kubeadm
 * writes such zeros. In all other fields a zero is a value, such as `healthzPort: 0`.
 *
 * Source: SetDefaults_KubeletConfiguration in pkg/kubelet/apis/config/v1beta1/defaults.go.
 */
const HELD_BY_VALUE: readonly (readonly string[])[] = [
  ...[
    ...['syncFrequency', 'fileCheckFrequency', 'httpCheckFrequency', 'streamingConnectionIdleTimeout'],
    ...['nodeStatusUpdateFrequency', 'nodeStatusReportFrequency', 'nodeLeaseDurationSeconds', 'volumeStatsAggPeriod'],
    ...['imageMinimumGCAge', 'imageMaximumGCAge', 'cpuManagerReconcilePeriod', 'runtimeRequestTimeout'],
    ...['evictionPressureTransitionPeriod', 'shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'],
    ...['address', 'port', 'healthzBindAddress', 'maxPods', 'maxOpenFiles', 'contentType', 'volumePluginDir'],
    ...['registryBurst', 'eventBurst', 'kubeAPIBurst', 'containerLogMaxSize', 'hairpinMode', 'cgroupDriver'],
    ...['cpuManagerPolicy', 'memoryManagerPolicy', 'topologyManagerPolicy', 'topologyManagerScope'],
    ...['configMapAndSecretChangeDetectionStrategy', 'imagePullCredentialsVerificationPolicy', 'podLogsDir'],
    ...['containerRuntimeEndpoint', 'memoryReservationPolicy', 'memorySwap'],
  ].map((name) => [name]),
  ['authentication', 'webhook', 'cacheTTL'],
  ['authorization', 'mode'],
  ['authorization', 'webhook', 'cacheAuthorizedTTL'],
  ['authorization', 'webhook', 'cacheUnauthorizedTTL'],
  ['logging', 'format'],
  ['logging', 'flushFrequency'],
];

/** The fields of a file without zeros that mean an absent field. */
export const withoutUnset = (fields: JsonObject): JsonObject => HELD_BY_VALUE.reduce(withoutZero, fields);

const withoutZero = (fields: JsonObject, [key, ...below]: readonly string[]): JsonObject => {
  if (key === undefined || !(key in fields)) return fields;
  const value = fields[key];
  if (below.length > 0) return isJsonObject(value) ? { ...fields, [key]: withoutZero(value, below) } : fields;
  return isZero(value) ? Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key)) : fields;
};

const isZero = (value: unknown): boolean =>
  value === 0 ||
  value === '' ||
  (typeof value === 'string' && parseGoDuration(value) === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0);

import { isAbsolute, normalize } from 'node:path';
import type { ConfigurationRule as Rule } from './configuration-rule.js';
import { checkFeatureGates, isGateOn } from '../fields/feature-gates.js';
import { imageVerificationProblem } from '../settings/image-verification.js';
import type { AgentConfig } from '../fields/kubelet-configuration.js';
import type { JsonObject } from '../document/merge-patch.js';
import { EVICTION_RULES } from './validate-eviction.js';
import { GATE_RULES } from './validate-gates.js';
import { OBSERVABILITY_RULES } from './validate-observability.js';
import { RESERVED_RULES } from './validate-reserved.js';
import { SERVER_RULES } from './validate-server.js';
import { sysctlPatternProblem } from '../../../model/admission/sysctls.js';
import { defaultSysctlProblems } from '../../../model/cri/default-sysctls.js';
import { formatGoDuration } from '../../../model/values/go-duration.js';
import { KUBERNETES_VERSION } from '../../../model/node/kubernetes-version.js';
import { isQualifiedName, LABEL_VALUE, QUALIFIED_NAME } from '../../../model/manifest/names.js';
import { parseQuantity } from '../../../model/resources/quantity.js';
import { SHUTDOWN_RULES } from '../../../model/shutdown/shutdown-groups.js';

const notNegative =
  (
    field:
      | 'maxPods'
      | 'podsPerCore'
      | 'eventRecordQPS'
      | 'eventBurst'
      | 'kubeAPIQPS'
      | 'kubeAPIBurst'
      | 'registryPullQPS'
      | 'registryBurst'
      | 'maxOpenFiles',
    flag: string,
  ): Rule =>
  (config) =>
    config[field] < 0 && `${field} (--${flag}) ${config[field]} must not be a negative number`;

const between =
  (
    field:
      | 'port'
      | 'readOnlyPort'
      | 'healthzPort'
      | 'imageGCHighThresholdPercent'
      | 'imageGCLowThresholdPercent'
      | 'oomScoreAdj'
      | 'iptablesMasqueradeBit'
      | 'iptablesDropBit',
    flag: string,
    low: number,
    high: number,
  ): Rule =>
  (config) =>
    (config[field] < low || config[field] > high) &&
    `${field} (--${flag}) ${config[field]} must be between ${low} and ${high}, inclusive`;

const oneOf = (value: string, ...allowed: readonly string[]): boolean => allowed.includes(value);

const ENFORCEMENTS = [
  'none',
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
];

/** Enforces all reserved resources, or only the compressible ones. */
const enforcedTwice =
  (who: 'system' | 'kube'): Rule =>
  ({ enforceNodeAllocatable: options }) =>
    options.includes(`${who}-reserved`) &&
    options.includes(`${who}-reserved-compressible`) &&
    `both "${who}-reserved" and "${who}-reserved-compressible" cannot be specified together in enforceNodeAllocatable (--enforce-node-allocatable)`;

const enforcedNowhere =
  (who: 'system' | 'kube'): Rule =>
  ({ enforceNodeAllocatable: options, [`${who}ReservedCgroup` as const]: cgroup }) =>
    options.some((option) => option.startsWith(`${who}-reserved`)) &&
    cgroup === '' &&
    `${who}ReservedCgroup (--${who}-reserved-cgroup) must be specified when "${who}-reserved" or "${who}-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)`;

/**
 * Source: pkg/util/taints/taints.go CheckTaintValidation. The effect is required: the API server refuses a taint
 * without it.
 */
const taints: Rule = ({ registerWithTaints }) => {
  for (const { key, value = '', effect, timeAdded } of registerWithTaints) {
    const text = `${key}${value === '' ? '' : `=${value}`}:${effect}`;
    if (!isQualifiedName(key)) return `invalid taint: ${text}: its key must be ${QUALIFIED_NAME}`;
    if (value.length > LABEL_VALUE.maxLength || !LABEL_VALUE.pattern.test(value)) {
      return `invalid taint: ${text}: its value must be ${LABEL_VALUE.expected}`;
    }
    if (!['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
      return `invalid taint: ${text}: its effect must be NoSchedule, PreferNoSchedule or NoExecute`;
    }
    if (timeAdded !== undefined) return `taint.TimeAdded is not nil: ${text}`;
  }
  return false;
};

const crashLoopBackOff: Rule = ({ crashLoopBackOff: { maxContainerRestartPeriodMs: ms } }) =>
  (ms < 1000 || ms > 300_000) &&
  `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${ms / 1000} seconds) must be set between 1s and 300s`;

/** Source: k8s.io/utils/cpuset Parse. */
const isCpuSet = (text: string): boolean =>
  text === '' ||
  text.split(',').every((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    return first !== undefined && Number(first) <= Number(last);
  });

const [MAJOR, MINOR] = KUBERNETES_VERSION.split('.');
const PREVIOUS_MINOR = `${MAJOR}.${Number(MINOR) - 1}`;

const TOPOLOGY_POLICIES = ['none', 'best-effort', 'restricted', 'single-numa-node'];

const podLogsDir: Rule = ({ podLogsDir: path }) => {
  if (path === '') return false;
  if (!isAbsolute(path)) return `pod logs path ${JSON.stringify(path)} must be absolute path`;
  const isNormal = normalize(path) === path && (path === '/' || !path.endsWith('/'));
  if (!isNormal) return `pod logs path ${JSON.stringify(path)} must be normalized`;
  return /[^\x20-\x7e]/.test(path) && `pod logs path ${JSON.stringify(path)} mut contains ASCII characters only`;
};

/** Source: pkg/kubelet/logs/container_log_manager.go parseMaxSize. */
const containerLogMaxSize: Rule = ({ containerLogMaxSize: text }) => {
  const amount = parseQuantity(text);
  if (amount === undefined) {
    return `containerLogMaxSize: failed to parse container log max size ${JSON.stringify(text)}: expected a quantity such as 10Mi`;
  }
  return (
    amount % 1_000_000_000n !== 0n &&
    `containerLogMaxSize: failed to parse container log max size ${JSON.stringify(text)}: invalid max log size, expected whole bytes`
  );
};

const imagePulls: Rule = ({ maxParallelImagePulls: pulls, serializeImagePulls }) => {
  if (pulls === undefined) return false;
  if (pulls < 1) return `maxParallelImagePulls ${pulls} must be a positive number`;
  return (
    pulls > 1 &&
    serializeImagePulls &&
    'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false'
  );
};

const cpuQuotaPeriod: Rule = ({ cpuCFSQuotaPeriodMs: ms, featureGates }) => {
  if (ms !== 100 && !isGateOn(featureGates, 'CustomCPUCFSQuotaPeriod')) {
    return `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${formatGoDuration(ms)} requires feature gate CustomCPUCFSQuotaPeriod`;
  }
  return (
    (ms < 1 || ms > 1000) &&
    `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${formatGoDuration(ms)} must be between 1ms and 1sec, inclusive`
  );
};

/** Source: pkg/kubelet/apis/config/validation/validation.go. */
const RULES: readonly Rule[] = [
  notNegative('maxPods', 'max-pods'),
  notNegative('podsPerCore', 'pods-per-core'),
  podLogsDir,
  ...SERVER_RULES,
  (config, given) => config.port !== 0 && between('port', 'port', 1, 65_535)(config, given),
  between('readOnlyPort', 'read-only-port', 0, 65_535),
  (config, given) => config.healthzPort !== 0 && between('healthzPort', 'healthz-port', 1, 65_535)(config, given),
  ({ enableSystemLogQuery, enableSystemLogHandler }) =>
    enableSystemLogQuery && !enableSystemLogHandler && 'enableSystemLogHandler is required for enableSystemLogQuery',
  notNegative('eventRecordQPS', 'event-qps'),
  notNegative('eventBurst', 'event-burst'),
  notNegative('kubeAPIQPS', 'kube-api-qps'),
  notNegative('kubeAPIBurst', 'kube-api-burst'),
  ({ configMapAndSecretChangeDetectionStrategy: strategy }) =>
    !['Watch', 'Cache', 'Get'].includes(strategy) &&
    `configMapAndSecretChangeDetectionStrategy ${JSON.stringify(strategy)} must be one of Watch, Cache or Get`,
  ({ nodeLeaseDurationSeconds }) => nodeLeaseDurationSeconds <= 0 && 'nodeLeaseDurationSeconds must be greater than 0',
  ({ nodeStatusMaxImages }) =>
    nodeStatusMaxImages < -1 &&
    `nodeStatusMaxImages (--node-status-max-images) ${nodeStatusMaxImages} must be -1 or greater`,
  notNegative('registryPullQPS', 'registry-qps'),
  notNegative('registryBurst', 'registry-burst'),
  imagePulls,
  (config) => imageVerificationProblem(config) ?? false,
  ({ imageMinimumGCAgeMs: ms }) => ms < 0 && `imageMinimumGCAge ${formatGoDuration(ms)} must not be negative`,
  ({ imageMaximumGCAgeMs: ms }) => ms < 0 && `imageMaximumGCAge ${formatGoDuration(ms)} must not be negative`,
  ({ imageMaximumGCAgeMs: oldest, imageMinimumGCAgeMs: youngest }) =>
    oldest > 0 &&
    oldest <= youngest &&
    `imageMaximumGCAge ${formatGoDuration(oldest)} must be greater than imageMinimumGCAge ${formatGoDuration(youngest)}`,
  between('imageGCHighThresholdPercent', 'image-gc-high-threshold', 0, 100),
  between('imageGCLowThresholdPercent', 'image-gc-low-threshold', 0, 100),
  ({ imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high }) =>
    low >= high &&
    `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
  containerLogMaxSize,
  ({ containerLogMaxFiles }) => containerLogMaxFiles <= 1 && 'containerLogMaxFiles must be greater than 1',
  ({ containerLogMaxWorkers }) =>
    containerLogMaxWorkers < 1 && 'containerLogMaxWorkers must be greater than or equal to 1',
  ({ containerLogMonitorIntervalMs }) =>
    containerLogMonitorIntervalMs < 3000 &&
    'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s',
  crashLoopBackOff,
  ({ allowedUnsafeSysctls }) =>
    allowedUnsafeSysctls.map(sysctlPatternProblem).find((problem) => problem !== undefined) ?? false,
  ({ hairpinMode }) =>
    !oneOf(hairpinMode, 'none', 'hairpin-veth', 'promiscuous-bridge') &&
    `option ${JSON.stringify(hairpinMode)} specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"`,
  ({ systemCgroups, cgroupRoot }) =>
    systemCgroups !== '' &&
    cgroupRoot === '' &&
    'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified',
  ({ memorySwap: { swapBehavior } }) =>
    !oneOf(swapBehavior, '', 'LimitedSwap', 'NoSwap') &&
    `memorySwap.swapBehavior ${JSON.stringify(swapBehavior)} must be one of: "", "LimitedSwap" or "NoSwap"`,
  ({ enforceNodeAllocatable }) => {
    const odd = enforceNodeAllocatable.find((option) => !ENFORCEMENTS.includes(option));
    return (
      odd !== undefined &&
      `option ${JSON.stringify(odd)} specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are ${ENFORCEMENTS.map((option) => JSON.stringify(option)).join(', ')}`
    );
  },
  ({ enforceNodeAllocatable: options }) => {
    const twice = options.find((option, index) => options.indexOf(option) !== index);
    return (
      twice !== undefined &&
      `duplicated enforcements ${JSON.stringify(twice)} in enforceNodeAllocatable (--enforce-node-allocatable)`
    );
  },
  enforcedTwice('system'),
  enforcedTwice('kube'),
  enforcedNowhere('system'),
  enforcedNowhere('kube'),
  ({ enforceNodeAllocatable: options }) =>
    options.includes('none') &&
    options.length > 1 &&
    'enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
  ({ enforceNodeAllocatable: options, cgroupsPerQOS }) => {
    const first = options.find((option) => option !== 'none');
    return (
      !cgroupsPerQOS &&
      first !== undefined &&
      `cgroupsPerQOS (--cgroups-per-qos) must be set to true when ${JSON.stringify(first)} contained in enforceNodeAllocatable (--enforce-node-allocatable)`
    );
  },
  ({ cgroupDriver }) =>
    !oneOf(cgroupDriver, 'cgroupfs', 'systemd') &&
    `cgroupDriver (--cgroup-driver) ${JSON.stringify(cgroupDriver)} must be "cgroupfs" or "systemd"`,
  ({ cgroupRoot }) =>
    cgroupRoot.split('/').some((part) => part === '.' || part === '..') &&
    `cgroupRoot (--cgroup-root) ${JSON.stringify(cgroupRoot)} must be a path without "." and ".."`,
  ({ reservedSystemCPUs, systemReservedCgroup, kubeReservedCgroup }) =>
    reservedSystemCPUs !== '' &&
    systemReservedCgroup + kubeReservedCgroup !== '' &&
    "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
  ({ reservedSystemCPUs: cpus }) =>
    !isCpuSet(cpus) &&
    `unable to parse reservedSystemCPUs (--reserved-cpus) ${cpus}, error: expected a list such as 0-3,8`,
  ...RESERVED_RULES,
  cpuQuotaPeriod,
  between('oomScoreAdj', 'oom-score-adj', -1000, 1000),
  notNegative('maxOpenFiles', 'max-open-files'),
  taints,
  ...EVICTION_RULES,
  ({ memoryThrottlingFactor: factor }) =>
    typeof factor === 'number' &&
    (factor <= 0 || factor > 1) &&
    `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`,
  ({ memoryReservationPolicy: policy }) =>
    !oneOf(policy, 'None', 'TieredReservation') &&
    `option ${JSON.stringify(policy)} specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"`,
  ({ topologyManagerPolicy: policy }) =>
    !oneOf(policy, ...TOPOLOGY_POLICIES) &&
    `topologyManagerPolicy (--topology-manager-policy) ${JSON.stringify(policy)} must be one of: [${TOPOLOGY_POLICIES.map((name) => JSON.stringify(name)).join(' ')}]`,
  ({ topologyManagerScope: scope }) =>
    !oneOf(scope, 'container', 'pod') &&
    `topologyManagerScope (--topology-manager-scope) ${JSON.stringify(scope)} must be one of: "container", or "pod"`,
  between('iptablesMasqueradeBit', 'iptables-masquerade-bit', 0, 31),
  between('iptablesDropBit', 'iptables-drop-bit', 0, 31),
  ({ userNamespaces: { idsPerPod } }) =>
    (idsPerPod <= 0 || idsPerPod % 65_536 !== 0) && 'userNamespaces.idsPerPod must be a multiple of 65536',
  ({ userNamespaces: { idsPerPod } }) =>
    idsPerPod > 0xffff_ffff && 'userNamespaces.idsPerPod must not be more than 4294967295',
  ({ showHiddenMetricsForVersion: version }) =>
    !oneOf(version, '', PREVIOUS_MINOR) &&
    `showHiddenMetricsForVersion ${JSON.stringify(version)} must be empty or ${JSON.stringify(PREVIOUS_MINOR)}, the minor version before this one`,
  ...SHUTDOWN_RULES,
  ...GATE_RULES,
  ...OBSERVABILITY_RULES,
  // Periods by which the loop divides its time; a zero would make the kubelet spin.
  ...(
    [
      'syncFrequency',
      'fileCheckFrequency',
      'httpCheckFrequency',
      'runtimeRequestTimeout',
      'nodeStatusUpdateFrequency',
    ] as const
  ).map(
    (field): Rule =>
      (config) =>
        config[`${field}Ms`] <= 0 && `${field} ${formatGoDuration(config[`${field}Ms`])} must be greater than 0`,
  ),
  ({ staticPodURL }) =>
    staticPodURL !== '' &&
    !/^https?:$/.test(URL.canParse(staticPodURL) ? new URL(staticPodURL).protocol : '') &&
    `staticPodURL (--manifest-url) ${JSON.stringify(staticPodURL)} must be an http or https URL`,
  ({ containerRuntimeEndpoint: endpoint }) => endpointProblem('containerRuntimeEndpoint', endpoint),
  ({ imageServiceEndpoint: endpoint }) => endpointProblem('imageServiceEndpoint', endpoint),
];

const endpointProblem = (field: string, endpoint: string): string | false =>
  endpoint !== '' &&
  !/^(unix:\/\/)?\/./.test(endpoint) &&
  `${field} ${JSON.stringify(endpoint)} must be a unix socket, such as unix:///run/containerd/containerd.sock`;

/** All problems of the values of a configuration, in the words of the kubelet. Empty for a valid one. */
export const validateConfiguration = (config: AgentConfig, given: JsonObject): readonly string[] =>
  [
    ...checkFeatureGates(config.featureGates).errors,
    ...(isGateOn(config.featureGates, 'DefaultPodSysctls')
      ? defaultSysctlProblems(Object.keys(config.defaultPodSysctls))
      : []),
    ...RULES.flatMap((rule) => {
      const problem = rule(config, given);
      return problem === false ? [] : [problem];
    }),
  ].map((problem) => `invalid configuration: ${problem}`);

import { isAbsolute, normalize } from 'node:path';
import { checkFeatureGates, isGateOn } from './feature-gates.js';
import { imageVerificationProblem } from './image-verification.js';
import type { AgentConfig } from './kubelet-configuration.js';
import { sysctlPatternProblem } from '../../model/admission/sysctls.js';
import { formatGoDuration } from '../../model/go-duration.js';
import { isQualifiedName, LABEL_VALUE, QUALIFIED_NAME } from '../../model/manifest/names.js';
import { parseQuantity } from '../../model/quantity.js';

/** A rule of one field: what is wrong with it, or nothing. */
type Rule = (config: AgentConfig) => string | false;

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

/** All of what is reserved, or only its weight. */
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

const EVICTION_SIGNALS = [
  ...['memory.available', 'allocatableMemory.available', 'pid.available', 'nodefs.available', 'nodefs.inodesFree'],
  ...['imagefs.available', 'imagefs.inodesFree', 'containerfs.available', 'containerfs.inodesFree'],
];

/** Source: pkg/util/taints/taints.go CheckTaintValidation. An effect has to be there: the API server takes none without. */
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

/** Source: pkg/kubelet/eviction/helpers.go parseThresholdStatement. */
const hardEviction: Rule = ({ evictionHard }) => {
  for (const [signal, text] of Object.entries(evictionHard)) {
    if (!EVICTION_SIGNALS.includes(signal)) return `evictionHard: unsupported eviction signal ${signal}`;
    if (text.endsWith('%')) {
      const percent = text === '%' ? NaN : Number(text.slice(0, -1));
      if (!(percent >= 0 && percent <= 100)) {
        return `evictionHard: eviction percentage threshold ${signal} must be >= 0% and <= 100%: ${text}`;
      }
      continue;
    }
    const amount = parseQuantity(text);
    if (amount === undefined) {
      return `evictionHard: ${signal}: ${JSON.stringify(text)} is not a quantity, expected one such as 100Mi or 10%`;
    }
    if (amount <= 0n) return `evictionHard: eviction threshold ${signal} must be positive: ${text}`;
  }
  return false;
};

const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** Source: cmd/kubelet/app/server.go parseResourceList. */
const reservedProblem = (field: string, reserved: Readonly<Record<string, string>>): string | false => {
  for (const [name, text] of Object.entries(reserved)) {
    if (!RESERVABLE.includes(name)) return `${field}: cannot reserve ${JSON.stringify(name)} resource`;
    const amount = parseQuantity(text);
    if (amount === undefined) {
      return `${field}: ${name}: ${JSON.stringify(text)} is not a quantity, expected one such as 500m or 1Gi`;
    }
    if (amount < 0n) return `${field}: resource quantity for ${JSON.stringify(name)} cannot be negative: ${text}`;
  }
  return false;
};

const crashLoopBackOff: Rule = ({ crashLoopBackOff: { maxContainerRestartPeriodMs: ms } }) =>
  (ms < 1000 || ms > 300_000) &&
  `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${ms / 1000} seconds) must be set between 1s and 300s`;

const podLogsDir: Rule = ({ podLogsDir: path }) => {
  if (path === '') return false;
  if (!isAbsolute(path)) return `pod logs path ${JSON.stringify(path)} must be absolute path`;
  if (normalize(path) !== path) return `pod logs path ${JSON.stringify(path)} must be normalized`;
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

const shutdown: Rule = ({ shutdownGracePeriodMs: whole, shutdownGracePeriodCriticalPodsMs: critical, ...config }) => {
  if (config.shutdownGracePeriodByPodPriority.length > 0 && (whole > 0 || critical > 0)) {
    return 'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time';
  }
  if (critical > whole) {
    return `shutdownGracePeriodCriticalPods ${formatGoDuration(critical)} must be <= shutdownGracePeriod ${formatGoDuration(whole)}`;
  }
  return (
    (whole < 0 || (whole > 0 && whole < 1000)) &&
    `shutdownGracePeriod ${formatGoDuration(whole)} must be either zero or otherwise >= 1 sec`
  );
};

const cpuQuotaPeriod: Rule = ({ cpuCFSQuotaPeriodMs: ms, featureGates }) => {
  if (ms < 1 || ms > 1000) {
    return `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${formatGoDuration(ms)} must be between 1ms and 1sec, inclusive`;
  }
  return (
    ms !== 100 &&
    !isGateOn(featureGates, 'CustomCPUCFSQuotaPeriod') &&
    `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${formatGoDuration(ms)} requires feature gate CustomCPUCFSQuotaPeriod`
  );
};

const softEviction: Rule = ({ evictionSoft, evictionSoftGracePeriod }) => {
  const missing = Object.keys(evictionSoft).find((signal) => !(signal in evictionSoftGracePeriod));
  return missing !== undefined && `grace period must be specified for the soft eviction threshold ${missing}`;
};

/** Source: pkg/kubelet/apis/config/validation/validation.go. */
const RULES: readonly Rule[] = [
  notNegative('maxPods', 'max-pods'),
  notNegative('podsPerCore', 'pods-per-core'),
  podLogsDir,
  between('port', 'port', 1, 65_535),
  between('readOnlyPort', 'read-only-port', 0, 65_535),
  (config) => config.healthzPort !== 0 && between('healthzPort', 'healthz-port', 1, 65_535)(config),
  ({ serverTLSBootstrap, featureGates }) =>
    serverTLSBootstrap &&
    !isGateOn(featureGates, 'RotateKubeletServerCertificate') &&
    'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate',
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
  ({ imageMaximumGCAgeMs: oldest, imageMinimumGCAgeMs: youngest }) =>
    oldest !== 0 &&
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
  ({ systemReserved }) => reservedProblem('systemReserved', systemReserved),
  ({ kubeReserved }) => reservedProblem('kubeReserved', kubeReserved),
  cpuQuotaPeriod,
  between('oomScoreAdj', 'oom-score-adj', -1000, 1000),
  notNegative('maxOpenFiles', 'max-open-files'),
  taints,
  hardEviction,
  softEviction,
  ({ memoryThrottlingFactor: factor }) =>
    (factor <= 0 || factor > 1) &&
    `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`,
  between('iptablesMasqueradeBit', 'iptables-masquerade-bit', 0, 31),
  between('iptablesDropBit', 'iptables-drop-bit', 0, 31),
  ({ userNamespaces: { idsPerPod } }) =>
    (idsPerPod <= 0 || idsPerPod % 65_536 !== 0) && 'userNamespaces.idsPerPod must be a multiple of 65536',
  shutdown,
  // Periods that the loop divides its time by; the kubelet would spin on them.
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

/** Everything that is wrong with the values of a configuration, in the kubelet's words. Empty for a good one. */
export const validateConfiguration = (config: AgentConfig): readonly string[] =>
  [
    ...checkFeatureGates(config.featureGates).errors,
    ...RULES.flatMap((rule) => {
      const problem = rule(config);
      return problem === false ? [] : [problem];
    }),
  ].map((problem) => `invalid configuration: ${problem}`);

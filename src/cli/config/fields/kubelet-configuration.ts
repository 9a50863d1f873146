import * as z from 'zod';
import { parseGoDuration } from '../../../model/values/go-duration.js';

/** A Go duration in the file, milliseconds in the result. */
const duration = z.string().transform((text, context) => {
  const ms = parseGoDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({
    code: 'custom',
    message: `time: invalid duration ${JSON.stringify(text)}, expected one such as 1m30s`,
  });
  return z.NEVER;
});

const text = (initial = '') => z.string().default(initial);
const flag = (initial: boolean) => z.boolean().default(initial);
const UINT32_MAX = 2 ** 32 - 1;
/** A whole number of 32 bits; one of 64 bits. */
const int = (initial: number) => z.int32().default(initial);
const long = (initial: number) => z.int().default(initial);
const texts = (initial: readonly string[] = []) => z.array(z.string()).default([...initial]);
const textMap = () => z.record(z.string(), z.string()).default({});
/** A setting that has no effect unless given. */
const duringMs = (initialMs: number) => duration.default(initialMs);

/** Every top-level field that holds a duration, with its default. */
const durations = {
  syncFrequency: duringMs(60_000),
  fileCheckFrequency: duringMs(20_000),
  httpCheckFrequency: duringMs(20_000),
  streamingConnectionIdleTimeout: duringMs(4 * 3_600_000),
  nodeStatusUpdateFrequency: duringMs(10_000),
  nodeStatusReportFrequency: duration.optional(),
  imageMinimumGCAge: duringMs(120_000),
  imageMaximumGCAge: duringMs(0),
  volumeStatsAggPeriod: duringMs(60_000),
  cpuManagerReconcilePeriod: duringMs(10_000),
  runtimeRequestTimeout: duringMs(120_000),
  cpuCFSQuotaPeriod: duringMs(100),
  evictionPressureTransitionPeriod: duringMs(300_000),
  containerLogMonitorInterval: duringMs(10_000),
  shutdownGracePeriod: duringMs(0),
  shutdownGracePeriodCriticalPods: duringMs(0),
} as const;

const authentication = z
  .strictObject({
    x509: z.strictObject({ clientCAFile: text() }).prefault({}),
    webhook: z
      .strictObject({ enabled: flag(true), cacheTTL: duringMs(120_000) })
      .prefault({})
      .transform(({ cacheTTL, ...rest }) => ({ ...rest, cacheTTLMs: cacheTTL })),
    anonymous: z.strictObject({ enabled: flag(false) }).prefault({}),
  })
  .prefault({});

const authorization = z
  .strictObject({
    mode: text('Webhook'),
    webhook: z
      .strictObject({ cacheAuthorizedTTL: duringMs(300_000), cacheUnauthorizedTTL: duringMs(30_000) })
      .prefault({})
      .transform(({ cacheAuthorizedTTL, cacheUnauthorizedTTL }) => ({
        cacheAuthorizedTTLMs: cacheAuthorizedTTL,
        cacheUnauthorizedTTLMs: cacheUnauthorizedTTL,
      })),
  })
  .prefault({});

const identity = {
  enableServer: flag(true),
  staticPodPath: text(),
  staticPodURL: text(),
  staticPodURLHeader: z.record(z.string(), z.array(z.string())).default({}),
  maxPods: int(110),
  podsPerCore: int(0),
  podCIDR: text(),
  podPidsLimit: long(-1),
  /** Empty: depends on the runtime, see `agentPaths`. */
  podLogsDir: text(),
  registerNode: flag(true),
  registerWithTaints: z
    .array(
      z.strictObject({
        key: z.string(),
        value: z.string().optional(),
        effect: z.string(),
        timeAdded: z.string().optional(),
      }),
    )
    .default([]),
  providerID: text(),
  clusterDNS: texts(),
  clusterDomain: text(),
  resolvConf: text('/etc/resolv.conf'),
  runOnce: flag(false),
  allowedUnsafeSysctls: texts(),
};

const servers = {
  address: text('0.0.0.0'),
  port: int(10_250),
  readOnlyPort: int(0),
  healthzPort: int(10_248),
  healthzBindAddress: text('127.0.0.1'),
  tlsCertFile: text(),
  tlsPrivateKeyFile: text(),
  tlsCipherSuites: texts(),
  /** Numbers of curves, as in crypto/tls of Go. */
  tlsCurvePreferences: z.array(z.int()).default([]),
  tlsMinVersion: text(),
  rotateCertificates: flag(false),
  serverTLSBootstrap: flag(false),
  authentication,
  authorization,
  enableDebuggingHandlers: flag(true),
  enableSystemLogHandler: flag(true),
  enableSystemLogQuery: flag(false),
  enableProfilingHandler: flag(true),
  enableDebugFlagsHandler: flag(true),
  enableContentionProfiling: flag(false),
  eventRecordQPS: int(50),
  eventBurst: int(100),
  kubeAPIQPS: int(50),
  kubeAPIBurst: int(100),
  contentType: text('application/vnd.kubernetes.protobuf'),
  nodeLeaseDurationSeconds: int(40),
  nodeStatusMaxImages: int(50),
};

const runtime = {
  /** Empty: the embedded runtime. */
  containerRuntimeEndpoint: text(),
  imageServiceEndpoint: text(),
  registryPullQPS: int(5),
  registryBurst: int(10),
  serializeImagePulls: z.boolean().optional(),
  maxParallelImagePulls: z.int32().optional(),
  imagePullCredentialsVerificationPolicy: text('NeverVerifyPreloadedImages'),
  preloadedImagesVerificationAllowlist: texts(),
  imageGCHighThresholdPercent: int(85),
  imageGCLowThresholdPercent: int(80),
  containerLogMaxSize: text('10Mi'),
  containerLogMaxFiles: int(5),
  containerLogMaxWorkers: int(1),
  crashLoopBackOff: z
    .strictObject({ maxContainerRestartPeriod: duringMs(300_000) })
    .prefault({})
    .transform(({ maxContainerRestartPeriod }) => ({ maxContainerRestartPeriodMs: maxContainerRestartPeriod })),
  seccompDefault: flag(false),
  hairpinMode: text('promiscuous-bridge'),
};

const resources = {
  kubeletCgroups: text(),
  systemCgroups: text(),
  cgroupRoot: text(),
  cgroupsPerQOS: flag(true),
  cgroupDriver: text('cgroupfs'),
  /** Upstream's default is true; this agent refuses cgroup v1 only on request. */
  failCgroupV1: flag(false),
  singleProcessOOMKill: z.boolean().optional(),
  failSwapOn: z.boolean().optional(),
  memorySwap: z.strictObject({ swapBehavior: text() }).prefault({}),
  enforceNodeAllocatable: texts(['pods']),
  systemReserved: textMap(),
  kubeReserved: textMap(),
  systemReservedCgroup: text(),
  kubeReservedCgroup: text(),
  reservedSystemCPUs: text(),
  reservedMemory: z
    .array(
      z.strictObject({
        numaNode: int(0),
        limits: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
      }),
    )
    .default([]),
  qosReserved: textMap(),
  cpuCFSQuota: flag(true),
  cpuManagerPolicy: text('none'),
  cpuManagerPolicyOptions: textMap(),
  memoryManagerPolicy: text('None'),
  topologyManagerPolicy: text('none'),
  topologyManagerScope: text('container'),
  topologyManagerPolicyOptions: textMap(),
  oomScoreAdj: int(-999),
  maxOpenFiles: long(1_000_000),
  evictionHard: textMap(),
  evictionSoft: textMap(),
  evictionSoftGracePeriod: z.record(z.string(), duration).default({}),
  evictionMinimumReclaim: textMap(),
  evictionMaxPodGracePeriod: int(0),
  mergeDefaultEvictionSettings: flag(false),
  memoryThrottlingFactor: z.number().nullish(),
  memoryReservationPolicy: text('None'),
  defaultPodSysctls: textMap(),
  kernelMemcgNotification: flag(false),
  localStorageCapacityIsolation: flag(true),
  protectKernelDefaults: flag(false),
  makeIPTablesUtilChains: flag(true),
  iptablesMasqueradeBit: int(14),
  iptablesDropBit: int(15),
  userNamespaces: z.strictObject({ idsPerPod: long(65_536) }).prefault({}),
};

const rest = {
  shutdownGracePeriodByPodPriority: z
    .array(z.strictObject({ priority: z.int32(), shutdownGracePeriodSeconds: z.int() }))
    .default([]),
  enableControllerAttachDetach: flag(true),
  volumePluginDir: text('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'),
  configMapAndSecretChangeDetectionStrategy: text('Watch'),
  featureGates: z.record(z.string(), z.boolean()).default({}),
  logging: z
    .strictObject({
      /** Empty: text on a terminal, JSON elsewhere. Upstream's default is text. */
      format: text(),
      // A number is in nanoseconds, as in older files.
      flushFrequency: z.union([duration, z.int().transform((nanos) => nanos / 1e6)]).default(5000),
      verbosity: z.int().min(0).max(UINT32_MAX).default(0),
      vmodule: z
        .array(z.strictObject({ filePattern: z.string(), verbosity: z.int().min(0).max(UINT32_MAX) }))
        .default([]),
      options: z.record(z.string(), z.unknown()).default({}),
    })
    .prefault({})
    .transform(({ flushFrequency, ...others }) => ({ ...others, flushFrequencyMs: flushFrequency })),
  tracing: z.strictObject({ endpoint: z.string().optional(), samplingRatePerMillion: z.int32().optional() }).optional(),
  showHiddenMetricsForVersion: text(),
};

/** Every field of `KubeletConfiguration` v1beta1 with its type and its default. Source: pkg/kubelet/apis/config/v1beta1. */
export const kubeletConfiguration = z.strictObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  ...durations,
  ...identity,
  ...servers,
  ...runtime,
  ...resources,
  ...rest,
});

type Parsed = z.output<typeof kubeletConfiguration>;
type DurationField = keyof typeof durations;

/** The configuration in effect. Every duration is in milliseconds, and its name ends in `Ms`. */
export type AgentConfig = DeepReadonly<
  Omit<Parsed, DurationField | 'apiVersion' | 'kind' | 'serializeImagePulls'> & {
    [Field in DurationField as `${Field}Ms`]-?: number;
  } & { serializeImagePulls: boolean }
>;

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

/**
 * Adds the unit to the names of durations and sets the defaults that depend on other fields. Source:
 * v1beta1/defaults.go.
 */
export const toAgentConfig = (parsed: Parsed, given: ReadonlySet<string>): AgentConfig => {
  const named: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(parsed)) {
    if (field === 'apiVersion' || field === 'kind') continue;
    named[field in durations ? `${field}Ms` : field] = value;
  }
  const reportMs = given.has('nodeStatusUpdateFrequency') ? parsed.nodeStatusUpdateFrequency : 300_000;
  return {
    ...(named as unknown as AgentConfig),
    nodeStatusReportFrequencyMs: parsed.nodeStatusReportFrequency ?? reportMs,
    serializeImagePulls: parsed.serializeImagePulls ?? (parsed.maxParallelImagePulls ?? 1) < 2,
    podPidsLimit: Math.max(parsed.podPidsLimit, -1),
  };
};

export const fieldNames: readonly string[] = Object.keys(kubeletConfiguration.shape);

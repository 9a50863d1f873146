import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, isAbsolute, join } from 'node:path';
import { errorText } from '../../model/cri/cri-error.js';
import { type BytePath, bytePath, osPath } from '../../processes/byte-path.js';
import { CONFIG_API_VERSION, readConfigDocument } from './document/config-document.js';
import { DEFAULT_EVICTION_HARD } from '../../model/eviction/thresholds.js';
import { checkFeatureGates, isGateOn } from './fields/feature-gates.js';
import { type AgentConfig, fieldNames, kubeletConfiguration, toAgentConfig } from './fields/kubelet-configuration.js';
import { isJsonObject, type JsonObject, mergePatch } from './document/merge-patch.js';
import { withoutUnset } from './document/unset-fields.js';
import { validateConfiguration } from './validation/validate-configuration.js';

export interface ConfigurationInputs {
  /** `--config`; empty unless given. */
  readonly file: string;
  /** `--config-dir`; empty unless given. */
  readonly directory: string;
  /** The flags in the form of the file. A map or list replaces the whole value; feature gates are merged by key. */
  readonly flags: JsonObject;
}

export interface LoadedConfiguration {
  readonly config: AgentConfig;
  /** For the logger, which does not exist yet. */
  readonly warnings: readonly string[];
}

/** The fields with an effect in this version. All other fields are accepted, so that files of real nodes load. */
const IN_EFFECT: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'staticPodPath',
  'staticPodURL',
  'staticPodURLHeader',
  'syncFrequency',
  'fileCheckFrequency',
  'httpCheckFrequency',
  'podLogsDir',
  'runOnce',
  'healthzPort',
  'healthzBindAddress',
  'containerRuntimeEndpoint',
  'imageServiceEndpoint',
  'serializeImagePulls',
  'maxParallelImagePulls',
  'registryPullQPS',
  'registryBurst',
  'imagePullCredentialsVerificationPolicy',
  'preloadedImagesVerificationAllowlist',
  'runtimeRequestTimeout',
  'imageMinimumGCAge',
  'imageMaximumGCAge',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'containerLogMaxSize',
  'containerLogMaxFiles',
  'containerLogMaxWorkers',
  'containerLogMonitorInterval',
  'crashLoopBackOff',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'shutdownGracePeriodByPodPriority',
  'featureGates',
  'logging',
  'resolvConf',
  'clusterDNS',
  'clusterDomain',
  'cpuCFSQuota',
  'cpuCFSQuotaPeriod',
  'seccompDefault',
  'singleProcessOOMKill',
  'failSwapOn',
  'memorySwap',
  'memoryThrottlingFactor',
  'memoryReservationPolicy',
  'cgroupRoot',
  'cgroupsPerQOS',
  'cgroupDriver',
  'failCgroupV1',
  'podPidsLimit',
  'enforceNodeAllocatable',
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMinimumReclaim',
  'evictionMaxPodGracePeriod',
  'evictionPressureTransitionPeriod',
  'mergeDefaultEvictionSettings',
  'systemReserved',
  'kubeReserved',
  'systemReservedCgroup',
  'kubeReservedCgroup',
  'maxPods',
  'allowedUnsafeSysctls',
  'registerNode',
  'registerWithTaints',
  'providerID',
  'rotateCertificates',
  'kubeAPIQPS',
  'kubeAPIBurst',
  'eventRecordQPS',
  'eventBurst',
  'nodeStatusUpdateFrequency',
  'nodeStatusReportFrequency',
  'nodeLeaseDurationSeconds',
  'nodeStatusMaxImages',
  'configMapAndSecretChangeDetectionStrategy',
  'enableControllerAttachDetach',
  'podsPerCore',
  'localStorageCapacityIsolation',
  'enableServer',
  'address',
  'port',
  'readOnlyPort',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'tlsCipherSuites',
  'tlsMinVersion',
  'authentication',
  'authorization',
  'enableDebuggingHandlers',
  'enableSystemLogHandler',
  'enableSystemLogQuery',
  'enableProfilingHandler',
  'enableDebugFlagsHandler',
]);

/** The alpha gates of the fields that have an effect only while the gate is on. */
const BEHIND_GATES: ReadonlyMap<string, string> = new Map([['defaultPodSysctls', 'DefaultPodSysctls']]);

/** Fields of which a flag sets a part. */
const FIELDS_IN_PARTS = ['logging', 'authentication', 'authorization'];

/** Fields that hold a path relative to the configuration file. */
const PATH_FIELDS: readonly (readonly string[])[] = [
  ['staticPodPath'],
  ['authentication', 'x509', 'clientCAFile'],
  ['tlsCertFile'],
  ['tlsPrivateKeyFile'],
  ['resolvConf'],
  ['volumePluginDir'],
  ['podLogsDir'],
];

/** Adds the default hard thresholds of eviction to the given ones, if the fields ask for it. Source: `mergeDefaultEvictionSettings` */
const withDefaultThresholds = (fields: JsonObject): JsonObject =>
  fields.mergeDefaultEvictionSettings === true
    ? { ...fields, evictionHard: { ...DEFAULT_EVICTION_HARD, ...asObject(fields.evictionHard) } }
    : fields;

/**
 * The configuration in effect: defaults, overridden by the file, its drop-ins and the flags in this order. Unlike upstream, a start
 * without a file does not open the node to clients without credentials.
 *
 * Errors: one Error with the file and its problem, with line and column, or with every value that is not allowed.
 * Source: NewKubeletCommand in cmd/kubelet/app/server.go.
 */
export function loadConfiguration({ file, directory, flags }: ConfigurationInputs): LoadedConfiguration {
  const base = file === '' ? { fields: {}, warnings: [] } : loadFile(file);
  const dropIns = directory === '' ? [] : loadDropIns(directory);
  const withDefaults =
    file === '' || isJsonObject(base.fields.evictionHard)
      ? base.fields
      : { ...base.fields, evictionHard: DEFAULT_EVICTION_HARD };
  // A zero in a flag is kept: the kubelet parses flags after it has set its defaults.
  const merged = withoutUnset(
    dropIns.reduce<JsonObject>((fields, { fields: patch }) => mergePatch(fields, patch), mergePatch({}, withDefaults)),
  );
  const effective: JsonObject = {
    ...merged,
    ...flags,
    ...(isJsonObject(flags.featureGates) || isJsonObject(merged.featureGates)
      ? { featureGates: { ...asObject(merged.featureGates), ...asObject(flags.featureGates) } }
      : {}),
    ...Object.fromEntries(
      FIELDS_IN_PARTS.flatMap((field) => {
        const part = flags[field];
        return isJsonObject(part) ? [[field, mergePatch(asObject(merged[field]), part)]] : [];
      }),
    ),
  };

  const given = new Set(Object.keys(effective));
  const parsed = kubeletConfiguration.safeParse(withDefaultThresholds(effective));
  // Files were checked on their own, with lines; all other problems come from flags.
  if (!parsed.success) {
    throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(', '));
  }
  const config = toAgentConfig(parsed.data, given);
  const errors = validateConfiguration(config, effective);
  if (errors.length > 0) {
    const list = errors.length === 1 ? errors.join('') : `[${errors.join(', ')}]`;
    throw new Error(
      `failed to validate kubelet configuration, error: ${list}, path: ${file === '' ? 'flags only' : file}`,
    );
  }

  const idle = withoutEffect(
    file === '' ? { ...flags } : withoutUnset(mergePatch(mergePatch({}, base.fields), mergeAll(dropIns, flags))),
    config,
  );
  return {
    config,
    warnings: [
      ...base.warnings,
      ...dropIns.flatMap(({ warnings }) => warnings),
      ...checkFeatureGates(config.featureGates).warnings,
      ...(idle.length === 0 ? [] : [`configuration fields without effect in this version: ${idle.join(', ')}`]),
    ],
  };
}

const mergeAll = (dropIns: readonly { readonly fields: JsonObject }[], flags: JsonObject): JsonObject =>
  [...dropIns.map(({ fields }) => fields), flags].reduce(mergePatch, {});

const withoutEffect = (fields: JsonObject, { featureGates }: AgentConfig): readonly string[] =>
  fieldNames.filter((name) => {
    const gate = BEHIND_GATES.get(name);
    return name in fields && !(gate === undefined ? IN_EFFECT.has(name) : isGateOn(featureGates, gate));
  });

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

const loadFile = (file: string) => {
  try {
    const { fields, warnings } = readConfigDocument(readFileSync(file, 'utf8'), file);
    return { fields: PATH_FIELDS.reduce((all, path) => resolvePath(all, path, dirname(file)), fields), warnings };
  } catch (error) {
    throw new Error(`failed to load kubelet config file, path: ${file}, error: ${errorText(error)}`, { cause: error });
  }
};

const resolvePath = (fields: JsonObject, [key, ...below]: readonly string[], directory: string): JsonObject => {
  if (key === undefined) return fields;
  const value = fields[key];
  if (below.length > 0)
    return isJsonObject(value) ? { ...fields, [key]: resolvePath(value, below, directory) } : fields;
  const isRelative = typeof value === 'string' && value !== '' && !isAbsolute(value);
  return isRelative ? { ...fields, [key]: join(directory, value) } : fields;
};

const loadDropIns = (directory: string) => {
  try {
    return dropInFiles(bytePath(directory)).map((path) => {
      const file = osPath(path).toString();
      const text = readFileSync(osPath(path), 'utf8');
      if (text.trim() === '') throw new Error(`failed to load kubelet dropin file, path: ${file}, no apiVersion/kind`);
      try {
        return readConfigDocument(text, file);
      } catch (error) {
        throw new Error(
          `failed to load kubelet dropin file, path: ${file}, error: ${errorText(error)} (every drop-in is a ${CONFIG_API_VERSION} object of its own)`,
          { cause: error },
        );
      }
    });
  } catch (error) {
    throw new Error(
      `failed to merge kubelet configs: failed to walk through kubelet dropin directory ${JSON.stringify(directory)}: ${errorText(error)}`,
      { cause: error },
    );
  }
};

/** Every `*.conf` below the directory, in the order of their paths, part by part and byte by byte. */
const dropInFiles = (directory: BytePath): readonly BytePath[] =>
  readdirSync(osPath(directory), { encoding: 'latin1' })
    .sort()
    .flatMap((name) => {
      const path = join(directory, name);
      if (statSync(osPath(path)).isDirectory()) return dropInFiles(path);
      return extname(name) === '.conf' ? [path] : [];
    });

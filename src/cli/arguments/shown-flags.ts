import { isJsonObject, type JsonObject } from '../config/document/merge-patch.js';
import { FIELD_FLAG_NAMES, type RunFlags } from './run-flags.js';

/**
 * Returns the flags of a run by name, with the values in effect, for `/flagz`. A flag with a field of the configuration has
 * the value of `view`, which contains no secrets, whether a flag, a file or a default has set it.
 */
export const shownFlags = (flags: RunFlags, view: JsonObject): Readonly<Record<string, string>> => {
  const { config, configDir, rootDir, hostnameOverride, stopPodsOnExit, record, recordMaxSize, cluster } = flags;
  const given: JsonObject = {
    config,
    'config-dir': configDir,
    'root-dir': rootDir,
    'hostname-override': hostnameOverride,
    'stop-pods-on-exit': stopPodsOnExit,
    record,
    'record-max-size': recordMaxSize,
    ...(cluster && {
      kubeconfig: cluster.kubeconfig,
      'bootstrap-kubeconfig': cluster.bootstrapKubeconfig,
      'cert-dir': cluster.certDir,
      'node-ip': [...cluster.nodeIps, ...cluster.invalidNodeIps],
      'node-labels': cluster.nodeLabels,
      'cloud-provider': cluster.cloudProvider,
      'last-known-state': cluster.lastKnownState,
    }),
    v: valueAt(view, 'logging.verbosity'),
    ...Object.fromEntries(FIELD_FLAG_NAMES.map(({ field, name }) => [name, valueAt(view, field)])),
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, shownValue(value)]));
};

const valueAt = (view: JsonObject, field: string): unknown =>
  field.split('.').reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), view);

/** Lists and maps as the flags are written: `a,b` and `a=1,b=2`. */
const shownValue = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(shownValue).join(',');
  if (isJsonObject(value)) {
    return Object.entries(value)
      .map(([key, each]) => `${key}=${shownValue(each)}`)
      .join(',');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
};

import { formatGoDuration } from '../../../model/values/go-duration.js';
import { CONFIG_API_VERSION, CONFIG_KIND } from './config-document.js';
import type { AgentConfig } from '../fields/kubelet-configuration.js';
import { isJsonObject, type JsonObject } from './merge-patch.js';

const MASK = '<masked>';

/**
 * Returns a configuration as a file has it, with every default, and without secrets: the values of headers, and the
 * password in a URL.
 *
 * Source: staging/src/k8s.io/component-base/configz/configz.go
 */
export const configurationView = (config: AgentConfig): JsonObject => ({
  kind: CONFIG_KIND,
  apiVersion: CONFIG_API_VERSION,
  ...withDurations(config),
  evictionSoftGracePeriod: mapValues(config.evictionSoftGracePeriod, formatGoDuration),
  staticPodURL: withoutPassword(config.staticPodURL),
  staticPodURLHeader: mapValues(config.staticPodURLHeader, (values) => values.map(() => MASK)),
});

/** Durations are numbers here, in milliseconds, and their names end in `Ms`. */
const withDurations = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name.endsWith('Ms') && typeof value === 'number') return [name.slice(0, -2), formatGoDuration(value)];
      return [name, isJsonObject(value) ? withDurations(value) : value];
    }),
  );

const mapValues = <T, R>(values: Readonly<Record<string, T>>, change: (value: T) => R): Readonly<Record<string, R>> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));

const withoutPassword = (url: string): string => {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.password === '') return url;
  parsed.password = MASK;
  return parsed.href;
};

import type { ConfigurationRule } from './configuration-rule.js';
import { isGateOn } from '../fields/feature-gates.js';
import { isJsonObject } from '../document/merge-patch.js';
import { formatGoDuration } from '../../../model/values/go-duration.js';
import { parseQuantity } from '../../../model/resources/quantity.js';

const LARGEST = 2 ** 31 - 1;
const ALPHA_OPTIONS = 'LoggingAlphaOptions';

const fieldOf = (value: unknown, field: string): unknown => (isJsonObject(value) ? value[field] : undefined);
const isAmount = (value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number') && (parseQuantity(String(value)) ?? 0n) !== 0n;

/** Source: staging/src/k8s.io/component-base/logs/api/v1/options.go. */
const LOGGING: readonly ConfigurationRule[] = [
  ({ logging: { format } }) =>
    !['', 'text', 'json'].includes(format) &&
    `logging.format: Invalid value: ${JSON.stringify(format)}: Unsupported log format, expected "text" or "json"`,
  ({ logging: { verbosity } }) =>
    verbosity > LARGEST && `logging.verbosity: Invalid value: ${verbosity}: Must be <= ${LARGEST}`,
  ({ logging: { flushFrequencyMs: ms } }) =>
    ms <= 0 && `logging.flushFrequency: ${formatGoDuration(ms)} must be greater than 0`,
  ...(['text', 'json'] as const).flatMap(
    (format) =>
      [
        ({ logging: { options }, featureGates }) =>
          fieldOf(options[format], 'splitStream') === true &&
          !isGateOn(featureGates, ALPHA_OPTIONS) &&
          `logging.options.${format}.splitStream requires feature gate ${ALPHA_OPTIONS}`,
        ({ logging: { options }, featureGates }) =>
          isAmount(fieldOf(options[format], 'infoBufferSize')) &&
          !isGateOn(featureGates, ALPHA_OPTIONS) &&
          `logging.options.${format}.infoBufferSize requires feature gate ${ALPHA_OPTIONS}`,
      ] satisfies ConfigurationRule[],
  ),
  ({ logging: { vmodule } }) => {
    const index = vmodule.findIndex(({ verbosity }) => verbosity > LARGEST);
    return index >= 0 && `logging.vmodule[${index}].verbosity: must be at most ${LARGEST}`;
  },
  ({ logging: { format, vmodule } }) =>
    vmodule.length > 0 &&
    !['', 'text'].includes(format) &&
    'logging.vmodule: Forbidden: Only supported for text log format',
  ({ logging: { vmodule } }) => {
    const index = vmodule.findIndex(({ filePattern }) => filePattern === '' || /[=,]/.test(filePattern));
    const pattern = vmodule[index]?.filePattern;
    if (pattern === undefined) return false;
    return pattern === ''
      ? `logging.vmodule[${index}]: Required value: File pattern must not be empty`
      : `logging.vmodule[${index}]: Invalid value: ${JSON.stringify(pattern)}: File pattern must not contain equal sign or comma`;
  },
];

/** Source: staging/src/k8s.io/component-base/tracing/api/v1/config.go. */
const TRACING: readonly ConfigurationRule[] = [
  ({ tracing: { samplingRatePerMillion: rate = 0 } = {} }) => {
    if (rate < 0) return `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate must be positive`;
    return (
      rate > 1_000_000 &&
      `tracing.samplingRatePerMillion: Invalid value: ${rate}: sampling rate per million must be less than or equal to one million`
    );
  },
  ({ tracing: { endpoint } = {} }) => {
    if (endpoint === undefined) return false;
    const text = endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
    if (/%(?![\da-f]{2})/i.test(text)) return `tracing.endpoint: ${JSON.stringify(endpoint)} is not a URL`;
    const [, scheme] = /^([a-z][a-z\d+.-]*):/i.exec(text) ?? [];
    return (
      !['dns', 'unix', 'unix-abstract'].includes(scheme?.toLowerCase() ?? '') &&
      `tracing.endpoint: Invalid value: ${JSON.stringify(text)}: unsupported scheme: ${scheme ?? ''}.  Options are none, dns, unix, or unix-abstract`
    );
  },
];

/** The rules for logging and tracing. */
export const OBSERVABILITY_RULES: readonly ConfigurationRule[] = [...LOGGING, ...TRACING];

import type { ConfigurationRule as Rule } from './configuration-rule.js';
import { formatGoDuration } from '../../../model/values/go-duration.js';
import { isSignal } from '../../../model/eviction/signals.js';
import { parseQuantity } from '../../../model/resources/quantity.js';

type TextField = 'evictionHard' | 'evictionSoft' | 'evictionMinimumReclaim';

const isOdd = (signal: string): boolean => !isSignal(signal);

const percentOf = (text: string): number | undefined => {
  if (!text.endsWith('%')) return undefined;
  return text === '%' ? NaN : Number(text.slice(0, -1));
};

const notAQuantity = (field: TextField, signal: string, text: string): string =>
  `${field}: ${signal}: ${JSON.stringify(text)} is not a quantity, expected one such as 100Mi or 10%`;

/** Source: parseThresholdStatement. */
const thresholds =
  (field: 'evictionHard' | 'evictionSoft'): Rule =>
  (config) => {
    for (const [signal, text] of Object.entries(config[field])) {
      if (isOdd(signal)) return `${field}: unsupported eviction signal ${signal}`;
      const percent = percentOf(text);
      if (percent !== undefined) {
        if (percent >= 0 && percent <= 100) continue;
        return `${field}: eviction percentage threshold ${signal} must be >= 0% and <= 100%: ${text}`;
      }
      const amount = parseQuantity(text);
      if (amount === undefined) return notAQuantity(field, signal, text);
      if (amount <= 0n) return `${field}: eviction threshold ${signal} must be positive: ${text}`;
    }
    return false;
  };

/** Source: parseGracePeriods. */
const gracePeriods: Rule = ({ evictionSoftGracePeriod }) => {
  for (const [signal, ms] of Object.entries(evictionSoftGracePeriod)) {
    if (isOdd(signal)) return `evictionSoftGracePeriod: unsupported eviction signal ${signal}`;
    if (ms < 0) return `evictionSoftGracePeriod: ${signal}: ${formatGoDuration(ms)} must not be negative`;
  }
  return false;
};

/** Source: parseMinimumReclaims. */
const minimumReclaims: Rule = ({ evictionMinimumReclaim }) => {
  for (const [signal, text] of Object.entries(evictionMinimumReclaim)) {
    if (isOdd(signal)) return `evictionMinimumReclaim: unsupported eviction signal ${signal}`;
    const percent = percentOf(text);
    if (percent !== undefined) {
      if (percent > 0) continue;
      return `evictionMinimumReclaim: ${signal}: ${text} must be more than 0%`;
    }
    const amount = parseQuantity(text);
    if (amount === undefined) return notAQuantity('evictionMinimumReclaim', signal, text);
    if (amount < 0n) return `evictionMinimumReclaim: ${signal}: ${text} must not be negative`;
  }
  return false;
};

const softNeedsGrace: Rule = ({ evictionSoft, evictionSoftGracePeriod }) => {
  const missing = Object.keys(evictionSoft).find((signal) => !isOdd(signal) && !(signal in evictionSoftGracePeriod));
  return missing !== undefined && `grace period must be specified for the soft eviction threshold ${missing}`;
};

/**
 * The rules for the eviction settings.
 *
 * Source: pkg/kubelet/eviction/helpers.go ParseThresholdConfig.
 */
export const EVICTION_RULES: readonly Rule[] = [
  thresholds('evictionHard'),
  thresholds('evictionSoft'),
  gracePeriods,
  minimumReclaims,
  softNeedsGrace,
];

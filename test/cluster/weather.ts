import type { Fault, ProxiedRequest } from '../support/api-proxy.js';
import type { Dice } from '../embedded/seeded.js';

/** How many faults at most make a reader of a list wait before it reads again, each twice as long as the one before. */
const MAX_WAITS = 3;

/**
 * What befalls the requests of an agent, drawn: about one of five has a fault. A watch has one more often than not, and lives no longer
 * than some lines.
 */
export const weather = ({ between, oneOf }: Dice): ((request: ProxiedRequest) => Fault | undefined) => {
  const waits = new Map<string, number>();
  const ofWatch = (): Fault | undefined =>
    oneOf<() => Fault | undefined>([
      () => undefined,
      () => ({ kind: 'cut', afterLines: between(1, 8), inLine: false }),
      () => ({ kind: 'cut', afterLines: between(1, 8), inLine: true }),
      () => ({ kind: 'cut', afterLines: between(1, 8), inLine: true }),
      () => ({ kind: 'reordered' }),
    ])();
  /** These make a reader begin again. */
  const ofReading = (): Fault =>
    oneOf<() => Fault>([
      () => ({ kind: 'refused', code: 500, reason: 'InternalError' }),
      () => ({ kind: 'refused', code: 410, reason: 'Expired' }),
      () => ({ kind: 'expired', afterLines: between(0, 3) }),
      () => ({ kind: 'stalled', ms: between(500, 3000) }),
    ])();
  const ofOther = (): Fault =>
    oneOf<() => Fault>([
      () => ({ kind: 'refused', code: 500, reason: 'InternalError' }),
      () => ({ kind: 'refused', code: 503, reason: 'ServiceUnavailable' }),
      () => ({ kind: 'refused', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 }),
      () => ({ kind: 'reset', when: 'before' }),
      () => ({ kind: 'reset', when: 'after' }),
      () => ({ kind: 'slow', ms: between(50, 1500) }),
      () => ({ kind: 'stalled', ms: between(500, 3000) }),
    ])();
  return ({ verb, resource, namespace, name }) => {
    if (verb !== 'watch' && verb !== 'list') return between(1, 5) === 1 ? ofOther() : undefined;
    const reader = `${resource} ${namespace ?? ''}/${name ?? ''}`;
    const count = waits.get(reader) ?? 0;
    if (count < MAX_WAITS && between(1, 4) === 1) {
      const fault = ofReading();
      // The end of a stream is no fault of a list.
      if (verb === 'watch' || fault.kind !== 'expired') {
        waits.set(reader, count + 1);
        return fault;
      }
    }
    return verb === 'watch' ? ofWatch() : undefined;
  };
};

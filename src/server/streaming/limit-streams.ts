import type { MonoTypeOperatorFunction } from 'rxjs';
import { TooManyStreams } from '../../model/server/stream-refusal.js';
import { limitByKey } from '../../streams/operators/limit-by-key.js';

export interface StreamLimits {
  /** The streams of one pod at a time. */
  readonly perPod: number;
  /** The streams of all pods at a time. */
  readonly total: number;
}

/** Streams may not use up the connections of the port. */
export const STREAM_LIMITS: StreamLimits = { perPod: 20, total: 50 };

/**
 * Makes an operator for the streams of a pod, which share the limits. A stream counts from its subscription until one of its
 * sides has ended, which is its first emission: what follows passes by itself, and lasts 5 s at the most.
 *
 * Errors: those of the source; `TooManyStreams` at once, without a subscription of the source.
 */
export const limitStreams = ({ perPod, total }: StreamLimits): (<T>(pod: string) => MonoTypeOperatorFunction<T>) => {
  // A client of the API server reads a text with a colon as YAML, and then shows none of it.
  const most = (who: string, count: number): string => `${who} has ${count} open streams, and may have no more`;
  const limited = limitByKey({
    inAll: total,
    perKey: perPod,
    tooMany: (limit) => new TooManyStreams(limit === 'perKey' ? most('the pod', perPod) : most('the node', total)),
  });
  return (pod) => limited(pod, () => true);
};

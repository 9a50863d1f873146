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
 * Makes an operator for the streams of a pod, which share the limits: a stream counts from its subscription to its end.
 *
 * Errors: those of the source; `TooManyStreams` at once, without a subscription of the source.
 */
export const limitStreams = ({ perPod, total }: StreamLimits): ReturnType<typeof limitByKey> =>
  limitByKey({
    inAll: total,
    perKey: perPod,
    tooMany: (limit) =>
      new TooManyStreams(
        limit === 'perKey'
          ? `too many streams: the pod has ${perPod} open streams, and may have no more`
          : `too many streams: the node has ${total} open streams, and may have no more`,
      ),
  });

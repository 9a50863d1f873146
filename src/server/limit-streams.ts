import { defer, finalize, type Observable, throwError } from 'rxjs';
import { TooManyStreams } from '../model/server/stream-refusal.js';

export interface StreamLimits {
  /** The streams of one pod at a time. */
  readonly perPod: number;
  /** The streams of all pods at a time. */
  readonly total: number;
}

/** Half of the hundred connections of the port stay free for requests. */
export const STREAM_LIMITS: StreamLimits = { perPod: 20, total: 50 };

/**
 * Makes an operator for the streams of a pod, which share the limits: a stream counts from its subscription to its end.
 *
 * Errors: those of the source; `TooManyStreams` at once, without a subscription of the source.
 */
export const limitStreams = ({
  perPod,
  total,
}: StreamLimits): ((pod: string) => <T>(source: Observable<T>) => Observable<T>) => {
  const open = new Map<string, number>();
  let count = 0;
  const add = (pod: string, change: 1 | -1): void => {
    const now = (open.get(pod) ?? 0) + change;
    if (now === 0) open.delete(pod);
    else open.set(pod, now);
    count += change;
  };
  return (pod) =>
    <T>(source: Observable<T>) =>
      defer(() => {
        if ((open.get(pod) ?? 0) >= perPod) return refused(`the pod has ${perPod} open streams, and may have no more`);
        if (count >= total) return refused(`the node has ${total} open streams, and may have no more`);
        add(pod, 1);
        return source.pipe(finalize(() => add(pod, -1)));
      });
};

const refused = (reason: string): Observable<never> =>
  throwError(() => new TooManyStreams(`too many streams: ${reason}`));

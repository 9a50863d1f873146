import type { Pod } from '../../../model/pod/pod.js';
import type { Span } from './plan.js';
import type { ReadyChange, TraceEvent } from './plan-trace.js';

/** The part of a trace about one pod, with times from the start of the node. */
export interface PodTrace {
  readonly pod: Pod;
  readonly events: readonly TraceEvent[];
  readonly startMs: number;
}

/** The periods in which the pod, or one of its containers, was ready. */
export const readySpans = ({ events, startMs }: PodTrace, container?: string): readonly Span[] => {
  const changes = events.filter(
    (event): event is ReadyChange => event.kind === 'ready' && event.container === container,
  );
  return changes.flatMap(({ at, isReady }, index) => {
    const end = changes[index + 1];
    return isReady ? [{ fromMs: at - startMs, ...(end && { toMs: end.at - startMs }) }] : [];
  });
};

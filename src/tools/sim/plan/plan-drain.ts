import { containersOf } from '../../../model/pod/pod.js';
import type { Drain, DrainStep } from './plan.js';
import type { PodTrace } from './pod-trace.js';

/** The exit code of a program that SIGKILL ended. */
const KILLED = 137;

/**
 * Returns how the pod was stopped when it was deleted; undefined without a deletion, or if none of its containers was
 * running then.
 */
export const planDrain = ({ pod, events, startMs }: PodTrace): Drain | undefined => {
  const entryAt = events.flatMap((event) => (event.kind === 'journal' ? [{ ...event.entry, at: event.at }] : []));
  const asked = entryAt.findLast((entry) => entry.kind === 'config' && entry.op === 'REMOVE');
  const begin =
    asked &&
    entryAt.find((entry) => entry.kind === 'sync-started' && entry.work === 'terminating' && entry.at >= asked.at);
  if (!asked || begin?.kind !== 'sync-started') return undefined;
  const after = events.filter(({ at }) => at >= asked.at);
  const hooks = new Map(containersOf(pod).map(({ container }) => [container.name, container.lifecycle?.preStop]));
  const stopping = new Set<string>();
  const ended = new Set<string>();
  const steps = after.flatMap((event): readonly DrainStep[] => {
    const atMs = event.at - startMs;
    if (event.kind === 'journal') {
      const { entry } = event;
      const { container } = entry;
      const isHook = entry.kind === 'event' && entry.reason === 'Killing' && container !== undefined;
      return isHook && hooks.get(container) ? [{ atMs, container, what: 'pre-stop' }] : [];
    }
    // A hook that outlives its container ends with it.
    if (event.kind === 'asked' && event.which === undefined && !ended.has(event.containerId))
      return [{ atMs, container: event.container, what: 'pre-stop-ended' }];
    if (event.kind === 'container-stopping') {
      stopping.add(event.containerId);
      return [{ atMs, container: event.container, what: 'stop-signal', graceSeconds: event.graceSeconds }];
    }
    if (event.kind !== 'container-exited') return [];
    const { container, exitCode } = event;
    ended.add(event.containerId);
    const isKilled = exitCode === KILLED && stopping.has(event.containerId);
    return [{ atMs, container, what: isKilled ? 'killed' : 'exited', exitCode }];
  });
  const stopped = entryAt.find(
    (entry) =>
      entry.kind === 'sync-ended' && entry.work === 'terminating' && entry.error === undefined && entry.at >= asked.at,
  );
  const gone = entryAt.find(
    (entry) =>
      entry.kind === 'sync-ended' && entry.work === 'terminated' && entry.error === undefined && entry.at >= asked.at,
  );
  if (steps.length === 0) return undefined;
  return {
    atMs: asked.at - startMs,
    graceSeconds: begin.graceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30,
    steps,
    ...(stopped && { stoppedAfterMs: stopped.at - asked.at }),
    ...(gone && { goneAfterMs: gone.at - asked.at }),
  };
};

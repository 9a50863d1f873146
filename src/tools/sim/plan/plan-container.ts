import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Container } from '../../../model/pod/pod.js';
import type { ProbeName } from '../world/behaviour.js';
import { type PodTrace, readySpans } from './pod-trace.js';
import type { BackOff, ContainerPlan, InstancePlan, ProbePlan, PulledImage, Span } from './plan.js';
import type { TraceEvent } from './plan-trace.js';

/** In the order of the steps in the life of a container. */
const PROBES = ['startup', 'readiness', 'liveness'] as const satisfies readonly ProbeName[];

interface Sought {
  readonly kind: ContainerPlan['kind'];
  readonly container: Container;
  readonly trace: PodTrace;
}

/** Returns the plan of one container of a pod. */
export const planContainer = ({ kind, container, trace }: Sought): ContainerPlan => {
  const { startMs } = trace;
  const { name } = container;
  const events = trace.events.filter((event) => nameIn(event) === name);
  const entries = events.flatMap((event) => (event.kind === 'journal' ? [{ ...event.entry, at: event.at }] : []));
  const backOffs = backOffsIn(entries, startMs);
  const ready = readySpans(trace, name);
  return {
    name,
    kind,
    image: container.image ?? '',
    pulls: entries.flatMap((entry): readonly PulledImage[] =>
      entry.kind === 'call' && entry.call === 'PullImage'
        ? [
            {
              fromMs: entry.at - entry.durationMs - startMs,
              toMs: entry.at - startMs,
              ...(entry.error === undefined ? {} : { error: entry.error }),
            },
          ]
        : [],
    ),
    instances: instancesIn({ events, entries, startMs, backOffs, ready }),
    ready,
    probes: PROBES.filter((probe) => container[`${probe}Probe`]).map((probe) => planProbe(probe, events, startMs)),
    backOffs,
  };
};

const nameIn = (event: TraceEvent): string | undefined =>
  event.kind === 'journal' ? event.entry.container : 'container' in event ? event.container : undefined;

/** Every wait once, though the agent writes it again on each sync. */
const backOffsIn = (entries: readonly JournalEntry[], startMs: number): readonly BackOff[] => {
  const waits = entries.flatMap((entry): readonly BackOff[] => {
    if (entry.kind !== 'back-off') return [];
    const { at, subject, delayMs, until, step, steps } = entry;
    return [{ atMs: at - startMs, subject, delayMs, untilMs: until - startMs, step, steps }];
  });
  return waits.filter(
    ({ subject, untilMs }, index) =>
      !waits.slice(0, index).some((wait) => wait.subject === subject && wait.untilMs === untilMs),
  );
};

interface Life {
  readonly events: readonly TraceEvent[];
  readonly entries: readonly JournalEntry[];
  readonly startMs: number;
  readonly backOffs: readonly BackOff[];
  readonly ready: readonly Span[];
}

const instancesIn = ({ events, entries, startMs, backOffs, ready }: Life): readonly InstancePlan[] => {
  const instances: InstancePlan[] = [];
  for (const event of events) {
    if (event.kind === 'container-exited') {
      const last = instances.at(-1);
      if (!last || last.attempt !== event.attempt) continue;
      const endedMs = event.at - startMs;
      const endedBy = endReason(entries, last.startedMs + startMs, event.at);
      instances[instances.length - 1] = { ...last, endedMs, exitCode: event.exitCode, endedBy };
    }
    if (event.kind !== 'container-started') continue;
    const startedMs = event.at - startMs;
    const before = instances.at(-1);
    const wait = backOffs.findLast(
      ({ subject, atMs }) => subject === 'restart' && atMs <= startedMs && atMs >= (before?.endedMs ?? Infinity),
    );
    instances.push({
      attempt: event.attempt,
      startedMs,
      ...(before?.endedMs === undefined ? {} : { waitedMs: startedMs - before.endedMs }),
      ...(wait && { backOff: { delayMs: wait.delayMs, step: wait.step, steps: wait.steps } }),
    });
  }
  return instances.map((instance, index) => {
    const until = instance.endedMs ?? instances[index + 1]?.startedMs ?? Infinity;
    const isWithin = (atMs: number): boolean => atMs >= instance.startedMs && atMs <= until;
    const startup = entries.find(
      (entry) =>
        entry.kind === 'probe' &&
        entry.probe === 'startup' &&
        entry.result === 'success' &&
        isWithin(entry.at - startMs),
    );
    const firstReady = ready.find(({ fromMs }) => isWithin(fromMs));
    return {
      ...instance,
      ...(startup && { startupMs: startup.at - startMs }),
      ...(firstReady && { firstReadyMs: firstReady.fromMs }),
    };
  });
};

/** The cause of an instance's end: the agent's last reason for stopping it, else the instance itself. */
const endReason = (entries: readonly JournalEntry[], from: number, until: number): InstancePlan['endedBy'] => {
  const killing = entries.findLast(
    (entry) => entry.kind === 'event' && entry.reason === 'Killing' && entry.at >= from && entry.at <= until,
  );
  if (killing?.kind !== 'event') return 'exit';
  if (/failed liveness probe/.test(killing.message)) return 'liveness';
  if (/failed startup probe/.test(killing.message)) return 'startup';
  return /^Stopping container /.test(killing.message) ? 'deletion' : 'other';
};

const planProbe = (probe: ProbeName, events: readonly TraceEvent[], startMs: number): ProbePlan => {
  const asked = events.filter((event) => event.kind === 'asked').filter(({ which }) => which === probe);
  const since = (found: { readonly at: number } | undefined) => (found ? found.at - startMs : undefined);
  const first = {
    firstMs: since(asked[0]),
    firstSuccessMs: since(asked.find(({ ok }) => ok)),
    firstFailureMs: since(asked.find(({ ok }) => !ok)),
  };
  return {
    probe,
    attempts: asked.length,
    failures: asked.filter(({ ok }) => !ok).length,
    ...Object.fromEntries(Object.entries(first).filter(([, at]) => at !== undefined)),
    verdicts: events.flatMap(({ at, ...event }) =>
      event.kind === 'journal' && event.entry.kind === 'probe' && event.entry.probe === probe
        ? [{ atMs: at - startMs, result: event.entry.result }]
        : [],
    ),
  };
};

import { podRef } from '../../../model/pod/pod.js';
import { type Lane, type Mark, marksOf, type Timeline, type TimelineEntry } from '../../timeline/lanes.js';
import { describeEntry } from '../../why/describe-entry.js';
import { containerLane } from './container-lane.js';
import { linkTo } from './mark-link.js';
import type { Plan, PodPlan } from './plan.js';
import { probeLane } from './probe-lane.js';
import type { PodTrace } from './pod-trace.js';

/** Returns the plans of pods as lanes over one time axis that begins with 0. `traces` are in the order of the pods. */
export const planTimeline = ({ pods, endMs }: Plan, traces: readonly PodTrace[]): Timeline => {
  const drawn = pods.flatMap((plan, index) => {
    const trace = traces[index];
    return trace ? [{ ref: { ...podRef(trace.pod), name: plan.name }, lanes: lanesOf(plan, trace, endMs) }] : [];
  });
  const timeline: Timeline = {
    from: 0,
    until: endMs,
    clock: 'since-start',
    pods: drawn,
    breaks: breaksOf(traces[0]),
    entries: [],
  };
  return { ...timeline, entries: entriesOf(timeline, traces) };
};

const lanesOf = (plan: PodPlan, trace: PodTrace, endMs: number): readonly Lane[] => [
  configLane(trace),
  ...plan.containers.flatMap((container) => [
    containerLane(container, plan, trace, endMs),
    ...container.probes.map(({ probe }) => probeLane(container.name, probe, trace, endMs)),
  ]),
  phaseLane(plan, trace, endMs),
  readyLane(plan, trace, endMs),
];

const configLane = ({ pod, events, startMs }: PodTrace): Lane => ({
  kind: 'config',
  name: 'config',
  marks: events.flatMap((event): readonly Mark[] => {
    if (event.kind !== 'journal' || event.entry.kind !== 'config') return [];
    const text = describeEntry(event.entry) ?? '';
    return [
      {
        id: `${pod.metadata.uid}/config/${event.entry.id}`,
        at: event.at - startMs,
        look: 'change',
        label: event.entry.op,
        text,
        severity: 'note',
        entry: event.entry.id,
        causes: event.entry.causes,
      },
    ];
  }),
});

const phaseLane = ({ phases }: PodPlan, { pod, events, startMs }: PodTrace, endMs: number): Lane => {
  const entries = new Map(
    events.flatMap(({ at, ...event }) =>
      event.kind === 'journal' && event.entry.kind === 'phase' ? [[at - startMs, event.entry] as const] : [],
    ),
  );
  return {
    kind: 'status',
    name: 'phase',
    marks: phases.map(({ atMs, phase, reason }, index) => ({
      id: `${pod.metadata.uid}/phase/${index}`,
      at: atMs,
      until: phases[index + 1]?.atMs ?? endMs,
      isOpen: index === phases.length - 1,
      look: 'phase',
      label: phase,
      text: `phase ${phase}${reason === undefined ? '' : ` (${reason})`}`,
      severity: phase === 'Failed' ? 'error' : phase === 'Pending' ? 'note' : 'good',
      ...linkTo(entries.get(atMs)),
    })),
  };
};

const readyLane = ({ ready }: PodPlan, { pod }: PodTrace, endMs: number): Lane => ({
  kind: 'status',
  name: 'ready',
  marks: ready.map(({ fromMs, toMs = endMs }, index) => ({
    id: `${pod.metadata.uid}/ready/${index}`,
    at: fromMs,
    until: toMs,
    isOpen: ready[index]?.toMs === undefined,
    look: 'passing',
    label: 'Ready',
    text: 'the pod is ready',
    severity: 'good',
    causes: [],
  })),
});

const breaksOf = (trace: PodTrace | undefined): readonly Mark[] =>
  (trace?.events ?? []).flatMap((event): readonly Mark[] => {
    const text = BREAKS[event.kind];
    // The first start of both is the begin of the axis.
    if (text === undefined || event.at === trace?.startMs) return [];
    return [
      {
        id: `break/${event.kind}/${event.at}`,
        at: event.at - (trace?.startMs ?? 0),
        look: 'break',
        label: text,
        text,
        severity: 'warning',
        causes: [],
      },
    ];
  });

const BREAKS: Readonly<Record<string, string>> = {
  'agent-started': 'the agent starts',
  'agent-killed': 'the agent ends',
  'runtime-started': 'the runtime starts',
  'runtime-stopped': 'the runtime ends',
};

/** The entries of the marks, and the known ones among their causes. */
const entriesOf = (timeline: Timeline, traces: readonly PodTrace[]): readonly TimelineEntry[] => {
  const known = new Map(
    traces.flatMap(({ events, startMs }) =>
      events.flatMap((event) => (event.kind === 'journal' ? [[event.entry.id, { ...event, startMs }] as const] : [])),
    ),
  );
  const wanted = new Set<string>();
  const want = (id: string | undefined): void => {
    if (id === undefined || wanted.has(id)) return;
    const found = known.get(id);
    if (!found) return;
    wanted.add(id);
    found.entry.causes.forEach(want);
  };
  for (const { entry, endedBy, causes } of marksOf(timeline)) [entry, endedBy, ...causes].forEach(want);
  return [...known.values()]
    .filter(({ entry }) => wanted.has(entry.id))
    .map(({ at, entry, startMs }) => {
      const text = describeEntry(entry);
      return { id: entry.id, at: at - startMs, ...(text && { text }), causes: entry.causes, record: entry };
    });
};

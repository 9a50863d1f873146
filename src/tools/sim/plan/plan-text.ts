import { formatGoDuration } from '../../../model/values/go-duration.js';
import type {
  ContainerPlan,
  Drain,
  DrainStep,
  Drawn,
  InstancePlan,
  Plan,
  PlannedEvent,
  PodPlan,
  ProbePlan,
} from './plan.js';

/** The most restarts that are printed one by one; of more, the first and the last ones. */
const MOST_RESTARTS = 12;

/** The first line of a plan: its assumptions. */
export const planHeading = ({ pods, forMs, seed }: Plan): string =>
  `${counted(pods.length, 'pod')} for ${formatGoDuration(forMs)}, then deleted; jitter is drawn by seed ${seed}`;

/** Returns the plan of a pod as lines of text: times are since the start of the node, rounded to tenths of seconds. */
export const podLines = (pod: PodPlan): readonly string[] => [
  `${pod.namespace}/${pod.name}`,
  ...indent(summaryRows(pod)),
  ...pod.containers.flatMap((container) => restartLines(container)),
  ...eventLines(pod.events),
  ...(pod.drain ? drainLines(pod.drain) : []),
];

const summaryRows = (pod: PodPlan): readonly string[] => {
  if (pod.rejected) return [`rejected at ${time(pod.rejected.atMs)}: ${pod.rejected.reason}: ${pod.rejected.message}`];
  const phases = pod.phases.map(({ phase, atMs, reason }) => `${phase} ${time(atMs)}${reason ? ` (${reason})` : ''}`);
  const [first] = pod.sandboxes;
  return columns([
    ['ready', pod.firstReady ? readyText(pod.firstReady, pod) : 'never'],
    ['phase', phases.join(', ') || 'none'],
    ['sandbox', first ? pod.sandboxes.map(({ atMs }) => time(atMs)).join(', ') : 'none'],
    ...imageRows(pod),
    ...pod.containers.map((container) => [container.name, containerText(container)]),
    ...pod.containers.flatMap(({ name, probes }) =>
      probes.map((probe) => [`${name} ${probe.probe}`, probeText(probe)]),
    ),
  ]);
};

const readyText = ({ atMs, shortestMs, longestMs }: Drawn, { ready, drain }: PodPlan): string => {
  const isSame = time(shortestMs) === time(longestMs) && time(atMs) === time(longestMs);
  const range = isSame ? '' : `, ${time(Math.min(atMs, shortestMs))} to ${time(Math.max(atMs, longestMs))} by jitter`;
  const losses = ready.flatMap(({ toMs = Infinity }) => (toMs < (drain?.atMs ?? Infinity) ? [time(toMs)] : []));
  const lost = losses.slice(0, 4);
  const more = losses.length > 4 ? ', …' : '';
  return `${time(atMs)}${range}${lost.length === 0 ? '' : `; lost at ${lost.join(', ')}${more}`}`;
};

const imageRows = ({ containers }: PodPlan): readonly (readonly string[])[] =>
  containers
    .filter(({ pulls }) => pulls.length > 0)
    .map(({ image, pulls }) => {
      const failed = pulls.filter(({ error }) => error !== undefined);
      const good = pulls.find(({ error }) => error === undefined);
      const failures =
        failed.length === 0
          ? ''
          : `${failed.length}× failed (${failed
              .slice(0, 6)
              .map(({ toMs }) => time(toMs))
              .join(', ')}${failed.length > 6 ? ', …' : ''}: ${failed[0]?.error})`;
      const pulled = good && `pulled at ${time(good.toMs)}, in ${time(good.toMs - good.fromMs)}`;
      return ['image', `${image}: ${[failures, pulled].filter(Boolean).join('; ')}`];
    });

const containerText = ({ kind, instances }: ContainerPlan): string => {
  const [first] = instances;
  if (!first) return `${kind}, never starts`;
  const last = instances.at(-1)!;
  const facts = [
    `starts ${time(first.startedMs)}`,
    ...(first.startupMs === undefined ? [] : [`started up ${time(first.startupMs)}`]),
    ...(first.firstReadyMs === undefined ? [] : [`ready ${time(first.firstReadyMs)}`]),
    ...(instances.length > 1 ? [counted(instances.length - 1, 'restart')] : []),
    ...(last.endedMs === undefined ? [] : [`ends ${time(last.endedMs)} with ${last.exitCode}`]),
  ];
  return `${kind}, ${facts.join(', ')}`;
};

const probeText = ({ attempts, failures, firstMs, firstSuccessMs, verdicts }: ProbePlan): string => {
  if (firstMs === undefined) return 'never made';
  const shown = verdicts.slice(0, 4).map(({ atMs, result }) => `${result} ${time(atMs)}`);
  return [
    `first ${time(firstMs)}`,
    ...(firstSuccessMs === undefined ? [] : [`succeeds ${time(firstSuccessMs)}`]),
    `${attempts} made, ${failures} failed`,
    ...(shown.length === 0 ? [] : [`verdicts: ${shown.join(', ')}${verdicts.length > 4 ? ', …' : ''}`]),
  ].join(', ');
};

const restartLines = ({ name, instances }: ContainerPlan): readonly string[] => {
  const restarts = instances.slice(1).map((instance, index) => ({ before: instances[index]!, instance }));
  if (restarts.length === 0) return [];
  const head = restarts.slice(0, restarts.length > MOST_RESTARTS ? MOST_RESTARTS - 2 : MOST_RESTARTS);
  const tail = restarts.length > MOST_RESTARTS ? restarts.slice(-2) : [];
  const row = ({ before, instance }: (typeof restarts)[number]): readonly string[] => [
    String(instance.attempt),
    time(instance.startedMs),
    instance.waitedMs === undefined ? '' : time(instance.waitedMs),
    backOffText(instance),
    because(before),
  ];
  const skipped = restarts.length - head.length - tail.length;
  return [
    `  restarts of ${name}`,
    ...indent(
      columns([
        ['#', 'at', 'waited', 'back-off', 'because'],
        ...head.map(row),
        ...(skipped > 0 ? [['…', `${skipped} more`]] : []),
        ...tail.map(row),
      ]),
      4,
    ),
  ];
};

const backOffText = ({ backOff }: InstancePlan): string =>
  backOff ? `${formatGoDuration(backOff.delayMs)} (${backOff.step} of ${backOff.steps})` : 'none';

const because = ({ endedBy, exitCode, endedMs }: InstancePlan): string => {
  const when = endedMs === undefined ? '' : ` at ${time(endedMs)}`;
  if (endedBy === 'liveness' || endedBy === 'startup')
    return `its ${endedBy} probe failed, exit code ${exitCode}${when}`;
  return exitCode === undefined ? 'it was lost' : `exit code ${exitCode}${when}`;
};

const eventLines = (events: readonly PlannedEvent[]): readonly string[] =>
  events.length === 0
    ? []
    : [
        '  events',
        ...indent(
          columns(
            events.map(({ firstMs, lastMs, count, type, reason, message, container }) => [
              count === 1 ? time(firstMs) : `${time(firstMs)} … ${time(lastMs)}`,
              count === 1 ? '' : `${count}×`,
              type === 'Warning' ? `${reason} !` : reason,
              container ?? '',
              message.split('\n')[0] ?? '',
            ]),
          ),
          4,
        ),
      ];

const drainLines = ({ atMs, graceSeconds, steps, stoppedAfterMs, goneAfterMs }: Drain): readonly string[] => {
  const stopped =
    stoppedAfterMs === undefined ? 'does not stop' : `takes ${time(stoppedAfterMs)} of ${graceSeconds}s grace`;
  const gone = goneAfterMs === undefined ? '' : `, all gone after ${time(goneAfterMs)}`;
  return [
    `  drain from ${time(atMs)} ${stopped}${gone}`,
    ...indent(columns(steps.map((step) => [`+${time(step.atMs - atMs)}`, step.container, stepText(step)])), 4),
  ];
};

const stepText = ({ what, graceSeconds, exitCode }: DrainStep): string => {
  switch (what) {
    case 'pre-stop':
      return 'preStop hook begins';
    case 'pre-stop-ended':
      return 'preStop hook ends';
    case 'stop-signal':
      return `stop signal, ${graceSeconds ?? 0}s left`;
    case 'killed':
      return `killed: it had not stopped (${exitCode})`;
    case 'exited':
      return `exits with ${exitCode}`;
  }
};

const counted = (count: number, what: string): string => `${count} ${count === 1 ? what : `${what}s`}`;

/** Tenths of seconds are exact enough beside ticks of a second. */
const time = (ms: number): string => formatGoDuration(Math.round(ms / 100) * 100);

const indent = (lines: readonly string[], by = 2): readonly string[] => lines.map((line) => ' '.repeat(by) + line);

/** Pads cells to the widest one of their column, except in the last column. */
const columns = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = rows.reduce<number[]>(
    (widest, row) =>
      row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length)).concat(widest.slice(row.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
};

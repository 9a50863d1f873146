import type { Pod } from '../../model/pod/pod.js';
import type { Incident, IncidentInstance, IncidentProbe } from '../../tools/recording/incident/incident.js';
import { USUAL_CALL_MS } from '../../tools/recording/incident/slow-calls.js';
import type {
  ImageBehaviour,
  InstanceBehaviour,
  NodeBehaviours,
  ProbeFailure,
} from '../../tools/sim/world/behaviour.js';
import type { Fault } from '../../tools/sim/faults/fault.js';
import type { History, PodPlan } from '../../tools/sim/histories/history.js';
import { withoutCluster } from './without-cluster.js';
import { withoutEnvFiles } from './without-env-files.js';

/** A hook that takes less time counts as instant. */
const SHORT_COMMAND_MS = 20;
/** A stop that took at least this long and ended in a kill means that the process ignored the signal. */
const SHORTEST_GRACE_MS = 900;
/** The margin around a refused call, which comes a little earlier or later in the simulation. */
const AROUND_REFUSAL_MS = 50;
const SOURCES: readonly string[] = ['file', 'http', 'api'] satisfies PodPlan['source'][];

/** A history in which the world acts on the agent as it did in the incident. */
export const historyOf = (incident: Incident, seed = 1): History => {
  const { options, facts, objects, durationMs, stopAskedMs } = incident;
  const endMs = Math.floor(stopAskedMs ?? durationMs);
  return {
    seed,
    node: { ...options, facts },
    pods: incident.pods.map(({ source, namespace, name, changes }) => ({
      key: `${source} ${namespace}/${name}`,
      source: simulatedSource(source),
      changes: changes.map(({ atMs, pod }) => ({
        atMs: Math.round(atMs),
        ...(pod && { pod: simulatedPod(pod, source, wasMade(incident, pod)) }),
      })),
    })),
    ...(objects.length > 0 && {
      objects: objects.map(({ source, changes }) => ({
        source: simulatedSource(source),
        changes: changes.map(({ atMs, object }) => ({ atMs: Math.round(atMs), ...(object && { object }) })),
      })),
    }),
    behaviours: behavioursOf(incident),
    faults: faultsOf(incident).filter((fault) => ('atMs' in fault ? fault.atMs < endMs : true)),
    quietFromMs: endMs,
    endMs,
  };
};

const simulatedSource = (source: string): PodPlan['source'] =>
  SOURCES.includes(source) ? (source as PodPlan['source']) : 'file';

const simulatedPod = (pod: Pod, source: string, made: (container: string) => boolean): Pod => {
  const withoutFiles = withoutEnvFiles(pod, made);
  return source === 'api' ? withoutCluster(withoutFiles, made) : withoutFiles;
};

const wasMade =
  ({ instances }: Incident, { metadata }: Pod) =>
  (container: string): boolean =>
    instances.some((one) => one.uid === metadata.uid && one.container === container);

const behavioursOf = ({
  instances,
  earlierPods,
  imagesPresent,
  pulls,
  sandboxesTookMs,
  tellsNoEvents,
}: Incident): NodeBehaviours => {
  const containers: Record<string, InstanceBehaviour[]> = {};
  const running = new Set(earlierPods.flatMap((one) => (one.isRunning ? [`${one.namespace}/${one.pod}`] : [])));
  for (const instance of instances) {
    // A pod that had been stopped starts as a new one.
    if (instance.isAdopted && !running.has(`${instance.namespace}/${instance.pod}`)) continue;
    (containers[`${instance.uid}/${instance.container}`] ??= []).push(behaviourOf(instance));
  }
  const sandboxMs = Math.round(median(sandboxesTookMs) ?? 0);
  const images: Record<string, ImageBehaviour> = {};
  for (const image of imagesPresent) images[image] = { isPresent: true };
  for (const image of new Set(pulls.map((pull) => pull.image))) {
    const own = pulls.filter((pull) => pull.image === image);
    images[image] = {
      ...images[image],
      pulls: own.map(({ tookMs, error }) => ({ takesMs: Math.round(tookMs), ...(error !== undefined && { error }) })),
    };
  }
  return {
    containers,
    images,
    ...(sandboxMs > USUAL_CALL_MS && { sandboxMs: { min: sandboxMs, max: sandboxMs } }),
    ...(tellsNoEvents && { tellsNoEvents }),
  };
};

const behaviourOf = (instance: IncidentInstance): InstanceBehaviour => {
  const { startedMs = 0, startTookMs = 0, startError, stopAskedMs, lifeMs, exitCode = 0, reason, isAdopted } = instance;
  const diedMs = lifeMs === undefined ? undefined : startedMs + lifeMs;
  const wasStopped = diedMs !== undefined && stopAskedMs !== undefined && diedMs >= stopAskedMs;
  // An instance from before the recording starts with the history.
  const bornMs = isAdopted ? 0 : startedMs;
  const commands = instance.commands.filter((one) => one.tookMs > SHORT_COMMAND_MS || one.exitCode !== 0);
  const probeFailures = failuresOf(instance.probes, bornMs);
  return {
    ...(startTookMs > USUAL_CALL_MS && { startsAfterMs: Math.round(startTookMs) }),
    ...(startError !== undefined && { startError }),
    ...(diedMs !== undefined && !wasStopped && { exitsAfterMs: Math.max(0, Math.round(diedMs - bornMs)), exitCode }),
    ...(reason === 'OOMKilled' && { outOfMemory: true }),
    ...(wasStopped && { onStop: onStop(diedMs - stopAskedMs, exitCode) }),
    ...(probeFailures.length > 0 && { probeFailures }),
    ...(commands.length > 0 && {
      commands: commands.map(({ command, tookMs, exitCode: code }) => ({
        contains: command.join(' '),
        takesMs: Math.round(tookMs),
        exitCode: code,
      })),
    }),
  };
};

const onStop = (afterMs: number, exitCode: number): InstanceBehaviour['onStop'] =>
  exitCode === 137 && afterMs >= SHORTEST_GRACE_MS
    ? { kind: 'hangs' }
    : { kind: 'exits', afterMs: Math.round(afterMs), exitCode };

/**
 * The stretches in which one of the probes failed, each from the middle between the last success and the first failure
 * to the middle before the next success.
 */
const failuresOf = (probes: readonly IncidentProbe[], bornMs: number): readonly ProbeFailure[] => {
  const failures: ProbeFailure[] = [];
  for (const which of new Set(probes.map((probe) => probe.type))) {
    const own = probes.filter((probe) => probe.type === which);
    let from: number | undefined;
    own.forEach(({ ok, atMs }, index) => {
      const before = own[index - 1];
      const between = Math.max(0, Math.round((before ? (before.atMs + atMs) / 2 : bornMs) - bornMs));
      if (!ok) from ??= between;
      else if (from !== undefined) {
        failures.push({ which, fromMs: from, toMs: between });
        from = undefined;
      }
    });
    if (from !== undefined) failures.push({ which, fromMs: from });
  }
  return failures;
};

const faultsOf = ({ outages, eventBreaks, refusals, clockJumps }: Incident): readonly Fault[] => [
  ...outages.map(({ fromMs, untilMs }): Fault => {
    // The stream of events breaks at once; the first failed call may come a little later.
    const atMs = eventBreaks.find((one) => isJustBefore(one, fromMs)) ?? fromMs;
    return { kind: 'runtime-restarts', atMs: Math.round(atMs), downMs: Math.max(1, Math.round(untilMs - atMs)) };
  }),
  ...eventBreaks
    .filter((atMs) => !outages.some(({ fromMs }) => isJustBefore(atMs, fromMs)))
    .map((atMs): Fault => ({ kind: 'events-break', atMs: Math.round(atMs) })),
  ...clockJumps.map(({ atMs, byMs }): Fault => ({ kind: 'clock-jumps', atMs: Math.round(atMs), byMs })),
  ...refusals.map(({ call, fromMs, untilMs, code }): Fault => ({
    kind: 'refused',
    fromMs: Math.max(0, Math.round(fromMs - AROUND_REFUSAL_MS)),
    untilMs: Math.round(untilMs + AROUND_REFUSAL_MS),
    rate: 1,
    calls: [call],
    code,
  })),
];

const isJustBefore = (atMs: number, fromMs: number): boolean => atMs <= fromMs && fromMs - atMs < 3_000;

const median = (values: readonly number[]): number | undefined =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

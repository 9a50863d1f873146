import type { NodeFacts } from '../../../model/node/node-facts.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { SourceObject } from '../../../model/references/source-object.js';
import type { Timeline } from '../../timeline/lanes.js';
import type { Random } from '../../../streams/ports/random.js';
import type { ImageBehaviour, LatencyRange, NodeBehaviours } from '../world/behaviour.js';
import { scenarioBehaviours } from '../scenario/scenario-behaviours.js';
import type { Scenario, TimelineStep } from '../scenario/scenario.js';
import { seededRandom } from '../world/seeded-random.js';
import { type SimulatedNode, simulatedNode } from '../simulated-node.js';
import { simulatedSource, type SimulatedSource } from '../node/simulated-source.js';
import { VirtualScheduler } from '../world/virtual-scheduler.js';
import type { WorldEvent } from '../world/world-event.js';
import type { Plan, PodPlan } from './plan.js';
import { planPod } from './plan-pod.js';
import { planTimeline } from './plan-timeline.js';
import { type PlanTrace, planTrace } from './plan-trace.js';
import type { PodTrace } from './pod-trace.js';

export interface PlanOptions {
  /** The pods of a static source, with the names of their manifests. */
  readonly pods: readonly Pod[];
  /** The ConfigMaps and Secrets of the same source. */
  readonly objects?: readonly SourceObject[];
  readonly scenario: Scenario;
  /** The time after which the remaining pods are deleted. */
  readonly forMs: number;
  /** The seed of every draw; `1` by default. */
  readonly seed?: string;
}

export interface PlannedPods {
  readonly plan: Plan;
  /** The same as lanes over one axis. */
  readonly timeline: Timeline;
}

/** The steps of time after the deletion, until every pod is gone. */
const STEP_MS = 1000;
/** The time beyond its grace period after which a pod is no longer watched. */
const PATIENCE_MS = 600_000;
/** The wait after the drawn first Ready for the one with the longest jitter. */
const RANGE_MS = 3_600_000;
/** A node that is not busy; only jitter is drawn, so that times are easy to follow. */
const UNHURRIED: NodeBehaviours = {
  callMs: always(2),
  fileMs: always(0),
  networkMs: always(1),
  eventMs: always(1),
};

/**
 * Runs the agent with these pods in a simulated node, deletes them, and returns the plan of each. Equal options give
 * equal plans.
 *
 * Errors: the errors of the agent, which are bugs.
 */
export const runPlan = (options: PlanOptions): PlannedPods => {
  const { pods, forMs, seed = '1' } = options;
  const world = planWorld(options, seededRandom(seed).fork('jitter').next);
  world.runUntil(forMs);
  world.source.want([]);
  const patienceMs = PATIENCE_MS + 1000 * Math.max(0, ...pods.map(graceOf));
  for (let ms = forMs; !world.isEmpty() && ms < forMs + patienceMs;) world.runUntil((ms += STEP_MS));
  const endMs = world.now();
  world.node.dispose();

  const traces = pods.map((pod) => podTrace(pod, world));
  const ranges = readyRanges(options, traces);
  const planned = traces.map((trace, index): PodPlan => {
    const plan = planPod(trace.pod.metadata.name, trace);
    const first = ranges[index];
    return first ? { ...plan, firstReady: first } : plan;
  });
  const plan: Plan = { version: 1, seed, forMs, endMs, pods: planned };
  return { plan, timeline: planTimeline(plan, traces) };
};

const graceOf = ({ spec }: Pod): number => spec.terminationGracePeriodSeconds ?? 30;

interface PlanWorld {
  readonly node: SimulatedNode;
  readonly source: SimulatedSource;
  readonly trace: PlanTrace;
  readonly startMs: number;
  /** Milliseconds since the start. */
  readonly runUntil: (ms: number) => void;
  readonly now: () => number;
  /** Whether every pod is gone. */
  readonly isEmpty: () => boolean;
}

const planWorld = ({ pods, objects, scenario, seed = '1' }: PlanOptions, random: Random): PlanWorld => {
  const scheduler = new VirtualScheduler({ tieBreak: seededRandom(seed).fork('ties').next });
  const startMs = scheduler.now();
  const trace = planTrace();
  const behaviours = mutableImages(scenarioBehaviours(scenario, pods.map(named)), pods);
  const source = simulatedSource('file', { scheduler }, pods, objects);
  const tell = (event: WorldEvent): void => {
    trace.tell(event);
    // The world reports a status at the end of a worker's run, which may be long after it was stored.
    const uid = event.kind === 'journal' ? event.entry.pod?.uid : undefined;
    if (uid === undefined) return;
    const pod = node.pods().find(({ metadata }) => metadata.uid === uid);
    if (pod) trace.tell({ kind: 'status', at: event.at, uid, pod });
  };
  const node: SimulatedNode = simulatedNode({
    seed,
    scheduler,
    behaviours: { ...UNHURRIED, ...behaviours },
    tell,
    sources: { file: source.event$ },
    // Events of the runtime are used in any case; without them it has to be listed all the time.
    options: { eventedPleg: scenario.node.eventedPleg ?? scenario.node.tellsNoEvents !== true },
    wrapPorts: (ports) => ({ ...ports, random }),
    facts: roomyFacts(pods),
    // The plan itself shows it.
    rejected: () => undefined,
  });
  node.start();
  for (const step of scenario.timeline)
    scheduler.schedule(() => take(step, { node, source, images: behaviours.images }), step.atMs);
  return {
    node,
    source,
    trace,
    startMs,
    runUntil: (ms) => scheduler.runUntil(startMs + ms),
    now: () => scheduler.now() - startMs,
    isEmpty: () => node.pods().length === 0 && node.runtime.liveContainers().length === 0 && trace.open() === 0,
  };
};

const named = ({ metadata: { name }, spec }: Pod): { readonly name: string; readonly spec: Pod['spec'] } => ({
  name,
  spec,
});

type MutableImages = Readonly<Record<string, ImageBehaviour>>;

/** Every image has a behaviour of its own, so that a step can change it. */
const mutableImages = (
  behaviours: NodeBehaviours,
  pods: readonly Pod[],
): NodeBehaviours & { readonly images: MutableImages } => {
  const { images = {} } = behaviours;
  const names = pods.flatMap(({ spec }) =>
    [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ image }) => image ?? []),
  );
  const own = [...new Set(names)].map((name) => [name, { ...(images[name] ?? images['*']) }] as const);
  return { ...behaviours, images: { ...images, ...Object.fromEntries(own) } };
};

/** Applies a step of the timeline to the world. */
const take = (
  step: TimelineStep,
  { node, source, images }: Pick<PlanWorld, 'node' | 'source'> & { readonly images: MutableImages },
): void => {
  switch (step.kind) {
    case 'delete-pod':
      return source.want(source.wanted().filter(({ metadata }) => metadata.name !== step.pod));
    case 'restart-agent':
      node.kill();
      node.scheduler.schedule(node.start, step.downMs);
      return;
    case 'restart-runtime':
      return node.runtime.restart(step.downMs);
    case 'exit':
      for (const { pod, container, containerId } of node.runtime.liveContainers())
        if (`${pod}/${container}` === step.container) node.runtime.crash(containerId, step.exitCode);
      return;
    case 'image':
      Object.assign(images[step.image] ?? {}, { pullMs: undefined, pullError: undefined }, step.behaviour);
  }
};

/** A node with room for every pod, and with the labels that pods select. */
const roomyFacts = (pods: readonly Pod[]): Partial<NodeFacts> => ({
  allocatable: { cpu: '1024', memory: '16Ti', pods: '1000', 'ephemeral-storage': '1Pi' },
  labels: {
    'kubernetes.io/hostname': 'node-1',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    ...Object.fromEntries(pods.flatMap(({ spec }) => Object.entries(spec.nodeSelector ?? {}))),
  },
});

/** Whether an event is about this pod or about the whole node. */
const podTrace = (pod: Pod, { trace, startMs }: PlanWorld): PodTrace => {
  const { uid } = pod.metadata;
  const events = trace.events.filter((event) => {
    if (event.kind === 'journal') return event.entry.pod?.uid === uid;
    return 'uid' in event ? event.uid === uid : true;
  });
  return { pod, events, startMs };
};

/**
 * The time of each pod's first Ready: drawn, and with the shortest and the longest jitter; undefined for a pod that is
 * never ready.
 */
const readyRanges = (options: PlanOptions, drawn: readonly PodTrace[]): readonly PodPlan['firstReady'][] => {
  const drawnMs = drawn.map(firstReady);
  const latest = Math.max(-1, ...drawnMs.map((ms) => ms ?? -1));
  if (latest < 0) return [];
  const [shortest = [], longest = []] = [0, 1 - 2 ** -32].map((draw) => {
    const world = planWorld(options, () => draw);
    const firsts = () => drawn.map(({ pod }) => firstReady(podTrace(pod, world)));
    const isDone = () => firsts().every((ms, index) => ms !== undefined || drawnMs[index] === undefined);
    for (let ms = 0; !isDone() && ms < latest + RANGE_MS;) world.runUntil((ms += 10 * STEP_MS));
    world.node.dispose();
    return firsts();
  });
  return drawnMs.map((atMs, index) =>
    atMs === undefined ? undefined : { atMs, shortestMs: shortest[index] ?? atMs, longestMs: longest[index] ?? atMs },
  );
};

const firstReady = ({ events, startMs }: PodTrace): number | undefined => {
  const first = events.find((event) => event.kind === 'ready' && event.container === undefined && event.isReady);
  return first && first.at - startMs;
};

function always(ms: number): LatencyRange {
  return { min: ms, max: ms };
}

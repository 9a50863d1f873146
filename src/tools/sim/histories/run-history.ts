import { defer, Subscription, switchMap, timer } from 'rxjs';
import type { KubeletOptions } from '../../../kubelet-options.js';
import { DEFAULT_IMAGE_GC } from '../../../model/images/image-gc.js';
import type { TellingFacts } from '../../../model/node/node-facts.js';
import { isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { SourceObject } from '../../../model/references/source-object.js';
import { type SimulatedApiServer, simulatedApiServer } from '../api-server/simulated-api-server.js';
import { without } from '../api-server/stored-object.js';
import type { Fault, PowerFault, ShutdownFault } from '../faults/fault.js';
import { withFaults } from '../faults/with-faults.js';
import { INVARIANTS } from '../invariants/invariants.js';
import type { Invariant, Violation } from '../invariants/monitor.js';
import { watchInvariants } from '../invariants/watch-invariants.js';
import { type NodeClock, nodeClock } from '../world/node-clock.js';
import { seededRandom } from '../world/seeded-random.js';
import { type SimulatedNode, simulatedNode, type SimulatedNodeOptions } from '../simulated-node.js';
import { simulatedSource, type SimulatedSource } from '../node/simulated-source.js';
import { VirtualScheduler } from '../world/virtual-scheduler.js';
import type { WorldEvent } from '../world/world-event.js';
import type { ClusterPlan } from './cluster-plan.js';
import { clusterUsers } from './cluster-users.js';
import { type Idle, idleFromTheStart, idleOf } from './idle-leaks.js';
import { type History, HISTORY_START_MS } from './history.js';
import { killAtSteps } from './kill-at-steps.js';
import { losePowerAtWrites } from './lose-power-at-writes.js';

export interface RunOptions {
  /** `INVARIANTS` by default. */
  readonly invariants?: readonly Invariant[];
  /** Receives every event, after the invariants. */
  readonly tell?: (event: WorldEvent) => void;
  /** Options of the agent, beside those of the history. */
  readonly options?: Partial<KubeletOptions>;
  /** Creates the agent of each life; `kubelet` by default, or a wrapper of it, such as a recorder. */
  readonly makeKubelet?: SimulatedNodeOptions['makeKubelet'];
}

/** The result of a history. */
export interface HistoryRun {
  /** The violations of the first instant that has any; then the run is over. */
  readonly violations: readonly Violation[];
  readonly stats: HistoryStats;
}

export interface HistoryStats {
  /** The end of the run. */
  readonly virtualMs: number;
  /** The number of events in the world. */
  readonly events: number;
  /** The number of calls of the runtime. */
  readonly calls: number;
  /** The number of lives of the agent. */
  readonly lives: number;
  /** The sum over all desired pods of the milliseconds for which they were desired. */
  readonly podMs: number;
}

/**
 * Runs a history to its end, or until an invariant is violated. Results of the same history are equal.
 *
 * Errors: none of the agent: one that throws, leaves something behind for removed pods, or never comes to rest has violated `no-crash`,
 * `no-leak` or `no-endless-work`.
 */
export const runHistory = (
  history: History,
  { invariants = INVARIANTS, tell = () => undefined, options = {}, makeKubelet }: RunOptions = {},
): HistoryRun => {
  const random = seededRandom(history.seed).fork('run');
  const scheduler = new VirtualScheduler({ startMs: HISTORY_START_MS, tieBreak: random.fork('ties').next });
  const watch = watchInvariants(invariants, history.node);
  const violations: Violation[] = [];
  const stats = { events: 0, calls: 0, lives: 0 };
  let isOver = false;
  const hear = (event: WorldEvent): void => {
    if (isOver) return;
    stats.events += 1;
    if (event.kind === 'call') stats.calls += 1;
    else if (event.kind === 'agent-started') stats.lives += 1;
    const found = watch.tell(event);
    if (found.length > 0) violations.push(...found);
    tell(event);
  };
  const apiClock = nodeClock(scheduler);
  const server = history.cluster && serverOf(history, history.cluster, { scheduler, apiClock, tell: hear });
  const sources = sourcesOf(history, scheduler, hear);
  let detached = new Subscription();
  const putFaults = withFaults(history.faults, random.fork('faults'));
  const steps = killAtSteps(history, scheduler, (downMs) => bringDown(node, downMs, scheduler));
  const power = losePowerAtWrites(history, scheduler, (fault) => losePower(fault));
  const node: SimulatedNode = simulatedNode({
    seed: history.seed,
    ...(power && { power }),
    scheduler,
    makeKubelet,
    nodeName: nodeNameOf(history),
    // Rejections are a matter of the history.
    rejected: () => undefined,
    ...(history.node.eviction && { resourceUse: history.node.eviction.use }),
    facts: { ...placesOf(history), ...history.node.facts },
    ...(server && { cluster: server }),
    behaviours: history.behaviours,
    tell: hear,
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, { event$ }]) => [name, lateAt(name, history, scheduler, event$)]),
    ),
    options: {
      eventedPleg: history.node.eventedPleg,
      syncFrequencyMs: history.node.syncFrequencyMs,
      maxRestartBackOffMs: history.node.maxRestartBackOffMs,
      ...(history.node.imageMaxAgeMs !== undefined && {
        imageGc: { ...DEFAULT_IMAGE_GC, maxAgeMs: history.node.imageMaxAgeMs },
      }),
      ...(history.node.eviction && { eviction: history.node.eviction.policy }),
      ...(history.node.shutdownGroups && { shutdownGroups: history.node.shutdownGroups }),
      imagePulls: { serialized: history.node.parallelPulls === 1, maxParallel: history.node.parallelPulls },
      ...options,
    },
    wrapPorts: (ports) => {
      // The clock of the agent begins again with each boot of the machine.
      const startMs = HISTORY_START_MS - scheduler.now() + ports.scheduler.now();
      return steps(putFaults(ports, { scheduler: ports.scheduler, startMs, detached }));
    },
  });
  const losePower = ({ forgetsMs, newShow, downMs, clockByMs }: PowerFault): void => {
    if (!node.isOn()) return;
    node.losePower({ forgetsMs, ...(newShow && { newShow }) });
    // Requests that were under way end with the machine.
    detached.unsubscribe();
    detached = new Subscription();
    scheduler.schedule(() => node.boot({ ...(clockByMs !== undefined && { clockByMs }) }), downMs);
  };
  const shutDown = ({ maxDelayMs, downMs }: ShutdownFault): void =>
    node.shutDown(maxDelayMs, () => {
      detached.unsubscribe();
      detached = new Subscription();
      scheduler.schedule(() => node.boot(), downMs);
    });
  const world = { history, node, sources, scheduler, server, apiClock, losePower, shutDown };
  const endMs = HISTORY_START_MS + history.endMs;
  try {
    scheduleChanges(world);
    if (server && history.cluster) clusterUsers(history.cluster, { server, scheduler, nodeName: nodeNameOf(history) });
    for (const fault of history.faults) scheduleFault(fault, world);
    wrongFromTheStart(world);
    node.start();
    for (let steps = 1; violations.length === 0 && (scheduler.nextAt ?? Infinity) <= endMs; steps += 1) {
      scheduler.step();
      if (steps > mostSteps(history)) violations.push(endless(steps, scheduler.now()));
    }
    if (violations.length === 0) {
      scheduler.runUntil(endMs);
      violations.push(...watch.end({ at: endMs, quietSince: HISTORY_START_MS + history.quietFromMs }));
    }
    isOver = true;
    // A wrapper of the agent, such as a recorder, only needs the history.
    if (violations.length === 0 && !makeKubelet) violations.push(...idleLeaks(world, endMs));
  } catch (error) {
    violations.push({ invariant: NO_CRASH, at: scheduler.now(), message: stackOf(error) });
  }
  const at = Math.min(scheduler.now(), endMs);
  node.dispose();
  detached.unsubscribe();
  if (violations.length === 0) violations.push(...leaks(node, at));
  const virtualMs = at - HISTORY_START_MS;
  return { violations, stats: { ...stats, virtualMs, podMs: podMs(history, virtualMs) } };
};

/** Three rules that no monitor can check. */
const NO_CRASH = 'no-crash';
const NO_LEAK = 'no-leak';
const NO_ENDLESS_WORK = 'no-endless-work';

/** Thirty times as many as the busiest histories take. */
const MOST_STEPS_PER_SECOND = 1000;

const mostSteps = ({ endMs }: History): number => Math.ceil((endMs / 1000) * MOST_STEPS_PER_SECOND);

const endless = (steps: number, at: number): Violation => {
  const seconds = Math.round((at - HISTORY_START_MS) / 1000);
  const message = `the world has taken ${steps} steps within ${seconds} virtual seconds, and would not end in a useful time`;
  return { invariant: NO_ENDLESS_WORK, at, message };
};

interface World {
  readonly history: History;
  readonly node: SimulatedNode;
  readonly sources: Readonly<Record<string, SimulatedSource>>;
  readonly scheduler: VirtualScheduler;
  readonly server: SimulatedApiServer | undefined;
  readonly apiClock: NodeClock;
  readonly losePower: (fault: PowerFault) => void;
  readonly shutDown: (fault: ShutdownFault) => void;
}

/** The places for pods, of which a history may have few. */
const placesOf = ({ node: { podCapacity } }: History): TellingFacts =>
  podCapacity === undefined ? {} : { allocatable: { cpu: '16', memory: '64Gi', pods: String(podCapacity) } };

const nodeNameOf = ({ node }: History): string => node.facts?.name ?? 'node-1';
const ALL_PODS = '/api/v1/pods';

/** The API server of a history. Its pods of the node are the desired ones. */
const serverOf = (
  history: History,
  { latencyMs, cacheLagMs, keptChanges }: ClusterPlan,
  { scheduler, apiClock, tell }: Pick<World, 'scheduler' | 'apiClock'> & { readonly tell: (event: WorldEvent) => void },
): SimulatedApiServer => {
  const server: SimulatedApiServer = simulatedApiServer({
    scheduler,
    wallClock: apiClock.now,
    latencyMs,
    cacheLagMs,
    keptChanges,
    random: seededRandom(history.seed).fork('api server'),
    changed: ({ at, resource, type, object, before }, user) => {
      const by = user.kind === 'node' ? 'agent' : 'user';
      const change = { resource: resource.plural, type, object, by, ...(before && { before }) } as const;
      tell({ kind: 'api-changed', at, ...change });
      if (change.resource === 'pods')
        tell({ kind: 'wanted', at, source: 'api', pods: wantedOf(server, nodeNameOf(history)) });
    },
    answered: ({ at, user, request: { method, path }, isWatch, code, message }) =>
      tell({
        kind: 'api-answered',
        at,
        method,
        path,
        isWatch,
        code,
        by: user.kind === 'node' ? 'agent' : 'user',
        ...(message !== undefined && { message }),
      }),
  });
  return server;
};

/** A mirror pod is not desired itself: its static pod is. */
const wantedOf = (server: SimulatedApiServer, nodeName: string): readonly Pod[] =>
  server
    .list(ALL_PODS)
    .map((pod) => ({ ...pod, metadata: without(pod.metadata, 'resourceVersion') }) as unknown as Pod)
    .filter((pod) => pod.spec.nodeName === nodeName && !isMirrorPod(pod));

const sourcesOf = (
  history: History,
  scheduler: VirtualScheduler,
  tell: (event: WorldEvent) => void,
): Readonly<Record<string, SimulatedSource>> =>
  Object.fromEntries(
    [...new Set(history.pods.map(({ source }) => source))].map((name) => [
      name,
      simulatedSource(name, { scheduler, tell }, wantedAt(history.pods, name, 0), objectsAt(history, name, 0)),
    ]),
  );

/** The set of a source at a time: the last version of each of its plans. */
const wantedAt = (pods: History['pods'], source: string, atMs: number): readonly Pod[] =>
  pods.flatMap((plan) => {
    if (plan.source !== source) return [];
    const pod = plan.changes.filter((change) => change.atMs <= atMs).at(-1)?.pod;
    return pod ? [pod] : [];
  });

/** The ConfigMaps and Secrets of a source at a time. */
const objectsAt = ({ objects = [] }: History, source: string, atMs: number): readonly SourceObject[] =>
  objects.flatMap((plan) => {
    if (plan.source !== source) return [];
    const object = plan.changes.filter((change) => change.atMs <= atMs).at(-1)?.object;
    return object ? [object] : [];
  });

/** The source for a new subscription. */
const lateAt = (
  name: string,
  { faults }: History,
  scheduler: VirtualScheduler,
  event$: SimulatedSource['event$'],
): SimulatedSource['event$'] => {
  const late = faults.filter((fault) => fault.kind === 'source-late').filter(({ source }) => source === name);
  if (late.length === 0) return event$;
  return defer(() => {
    const atMs = scheduler.now() - HISTORY_START_MS;
    const lateMs = Math.max(
      0,
      ...late.filter(({ fromMs, untilMs }) => atMs >= fromMs && atMs < untilMs).map((fault) => fault.lateMs),
    );
    return lateMs === 0 ? event$ : timer(lateMs, scheduler).pipe(switchMap(() => event$));
  });
};

const scheduleChanges = ({ history, sources, scheduler }: World): void => {
  const { pods, objects = [] } = history;
  for (const [name, source] of Object.entries(sources)) {
    const plans = [...pods, ...objects].filter((plan) => plan.source === name);
    const times = plans.flatMap(({ changes }) => changes.map(({ atMs }) => atMs));
    for (const atMs of new Set(times))
      if (atMs > 0)
        scheduler.schedule(() => source.want(wantedAt(pods, name, atMs), objectsAt(history, name, atMs)), atMs);
  }
};

/** Clocks that are wrong when the node starts. */
const wrongFromTheStart = (world: World): void => {
  for (const fault of world.history.faults)
    if (fault.kind === 'clock-steps' && fault.atMs === 0) stepClock(fault, world);
};

const stepClock = (
  { whose, byMs }: Extract<Fault, { readonly kind: 'clock-steps' }>,
  { node, apiClock }: Pick<World, 'node' | 'apiClock'>,
): void => {
  if (whose === 'machine') node.jumpClock(byMs);
  else if (whose === 'api-server') apiClock.jump(byMs);
  else node.setClock(whose, { byMs });
};

const scheduleFault = (
  fault: Fault,
  { node, sources, scheduler, server, apiClock, losePower, shutDown }: World,
): void => {
  if (fault.kind === 'clock-drifts') {
    scheduler.schedule(() => node.setClock(fault.whose, { rate: fault.rate }), fault.fromMs);
    scheduler.schedule(() => node.setClock(fault.whose, { rate: 1 }), fault.untilMs);
  }
  if (fault.kind === 'resource-fills') {
    scheduler.schedule(() => node.fill(fault.resource, fault.amount), fault.fromMs);
    scheduler.schedule(() => node.fill(fault.resource, -fault.amount), fault.untilMs);
  }
  if (!('atMs' in fault)) return;
  const act = (): void => {
    switch (fault.kind) {
      case 'agent-killed':
        return bringDown(node, fault.downMs, scheduler);
      case 'power-lost':
        return losePower(fault);
      case 'machine-shuts-down':
        return shutDown(fault);
      case 'runtime-restarts':
        return node.runtime.restart(fault.downMs);
      case 'container-dies': {
        const live = node.runtime.liveContainers();
        return live.length === 0 ? undefined : node.runtime.crash(live[fault.which % live.length]!.containerId, 137);
      }
      case 'sandbox-dies': {
        const ready = node.runtime.sandboxes().filter(({ isReady }) => isReady);
        return ready.length === 0 ? undefined : node.runtime.crashSandbox(ready[fault.which % ready.length]!.sandboxId);
      }
      case 'api-restarts':
        return server?.restart(fault.downMs);
      case 'api-forgets':
        server?.compact();
        return server?.breakWatches('reset');
      case 'clock-jumps':
        return node.jumpClock(fault.byMs);
      case 'clock-steps':
        return fault.atMs === 0 ? undefined : stepClock(fault, { node, apiClock });
      case 'source-breaks':
        return sources[fault.source]?.fail('the source broke, as the history has it');
      case 'source-repeats': {
        const source = sources[fault.source];
        return source?.want(source.wanted());
      }
      default:
    }
  };
  scheduler.schedule(act, fault.atMs);
};

/** The agent dies, and its supervisor starts it again. */
const bringDown = (node: SimulatedNode, downMs: number, scheduler: VirtualScheduler): void => {
  if (!node.isAlive()) return;
  node.kill();
  // The machine may be off by then, or have started another one.
  scheduler.schedule(() => {
    if (node.isOn() && !node.isAlive()) node.start();
  }, downMs);
};

/** The pending work of an agent for its pods, once all of them are gone. */
const idleLeaks = ({ history, node, sources, server }: World, at: number): readonly Violation[] => {
  for (const source of Object.values(sources)) source.want([]);
  for (const { metadata } of server?.list(ALL_PODS) ?? [])
    server?.do({ method: 'DELETE', path: `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}` });
  const idle = idleOf(node);
  if (!idle) return [{ invariant: NO_LEAK, at, message: 'pods without a source are not removed (expected none)' }];
  const usual = idleFromTheStart(history);
  if (idle.timers + idle.calls <= usual.timers + usual.calls) return [];
  const message = `the agent has ${toText(idle)} pending when all of its pods are gone (expected ${toText(usual)})`;
  return [{ invariant: NO_LEAK, at, message }];
};

const toText = ({ timers, calls }: Idle): string => `${timers} timers and ${calls} calls`;

const leaks = (node: SimulatedNode, at: number): readonly Violation[] =>
  node.lives().flatMap(({ life, pendingActions, openCalls }) =>
    pendingActions === 0 && openCalls === 0
      ? []
      : [
          {
            invariant: NO_LEAK,
            at,
            message: `life ${life} of the agent left ${pendingActions} timers and ${openCalls} calls behind; expected none`,
          },
        ],
  );

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

const podMs = ({ pods }: History, virtualMs: number): number =>
  pods
    .flatMap(({ changes }) =>
      changes.map(({ atMs, pod }, index) =>
        pod ? Math.max(0, Math.min(changes[index + 1]?.atMs ?? virtualMs, virtualMs) - atMs) : 0,
      ),
    )
    .reduce((sum, ms) => sum + ms, 0);

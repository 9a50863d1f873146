import { of, throwError } from 'rxjs';
import { type Kubelet, kubelet, type KubeletOptions, type KubeletPorts } from '../kubelet.js';
import type { NodeFacts } from '../model/node-facts.js';
import { type Pod, podRef } from '../model/pod.js';
import { noCredentials } from '../streams/no-credentials.js';
import { noMetrics } from '../streams/no-metrics.js';
import type { PodSources } from '../streams/pod-config.js';
import type { WorkerOutcome } from '../streams/pod-workers.js';
import type { Logger, RecordEvent, RecordJournal } from '../streams/ports.js';
import { AgentLife, type LifeReport } from './agent-life.js';
import type { SimulatedApiServer } from './api-server/simulated-api-server.js';
import type { NodeBehaviours } from './behaviour.js';
import { nodeClock } from './node-clock.js';
import { RUNTIME_NAME } from './runtime/status-calls.js';
import { type SimulatedRuntime, simulatedRuntime } from './runtime/simulated-runtime.js';
import { seededRandom } from './seeded-random.js';
import { simulatedClusterOptions, simulatedMachine } from './simulated-cluster.js';
import { type SimulatedDisk, simulatedDisk } from './simulated-disk.js';
import { simulatedFacts } from './simulated-facts.js';
import { simulatedNetwork } from './simulated-network.js';
import { simulatedProbes } from './simulated-probes.js';
import { VirtualScheduler } from './virtual-scheduler.js';
import type { TellWorld, WorldEvent } from './world-event.js';

export interface SimulatedNodeOptions {
  /** Of every draw of this node. */
  readonly seed: number | string;
  /** Shared by several nodes of one world, or with its sources; one of its own, in which timers that meet are drawn, unless given. */
  readonly scheduler?: VirtualScheduler;
  readonly behaviours?: NodeBehaviours;
  /** Hears of everything that happens. What it throws comes out of the scheduler. */
  readonly tell?: TellWorld;
  /**
   * The API server of the cluster that the node belongs to, over the same scheduler; how it takes part in the cluster is up to
   * `options`. The node stands alone unless given.
   */
  readonly cluster?: Pick<SimulatedApiServer, 'connect' | 'breakWatches'>;
  /** Over the scheduler of this node; each life of the agent subscribes anew. */
  readonly sources: PodSources;
  readonly options?: Omit<Partial<KubeletOptions>, 'sources' | 'stop$'>;
  /** Between the agent and the world, once for each life: faults, a recorder. */
  readonly wrapPorts?: (ports: KubeletPorts, life: number) => KubeletPorts;
  /** Makes the agent of each life; `kubelet` unless given, or something around it, such as a recorder. */
  readonly makeKubelet?: typeof kubelet;
  /** `node-1` unless given. */
  readonly nodeName?: string;
  /** Other facts of the node than `simulatedFacts`. */
  readonly facts?: Partial<NodeFacts>;
  /** Says nothing unless given. */
  readonly log?: Logger;
}

/** A node in virtual time: the production agent in a world of memory. Nothing happens unless its scheduler goes on. */
export interface SimulatedNode {
  readonly scheduler: VirtualScheduler;
  readonly runtime: SimulatedRuntime;
  readonly disk: SimulatedDisk;
  /** Unix milliseconds as everything on the node sees them. */
  readonly wallClock: () => number;
  /** A life of the agent begins. Errors: throws when one lives. */
  readonly start: () => void;
  /** Ends the agent at this instant, as SIGKILL does: what it has asked for and what has arrived still happens. */
  readonly kill: () => void;
  /** Asks the agent to stop every pod and then to end. */
  readonly stop: (reason: string, graceSeconds?: number) => void;
  readonly isAlive: () => boolean;
  /** Of the agent that lives: see `Kubelet`. */
  readonly pods: () => readonly Pod[];
  readonly health: () => string | undefined;
  /** What each life has under way or left behind, the newest last. */
  readonly lives: () => readonly LifeReport[];
  /** Sets the node's time of day; nothing that waits is affected. */
  readonly jumpClock: (byMs: number) => void;
  /** Ends the agent and tells of nothing any more. */
  readonly dispose: () => void;
}

/**
 * A node with an agent that is not running yet.
 *
 * Errors: what the agent, or `tell`, throws comes out of the scheduler's next step.
 */
export const simulatedNode = ({
  seed,
  scheduler: given,
  behaviours = {},
  tell: hear = () => undefined,
  cluster,
  sources,
  options = {},
  wrapPorts = (ports) => ports,
  makeKubelet = kubelet,
  nodeName = 'node-1',
  facts,
  log = silent,
}: SimulatedNodeOptions): SimulatedNode => {
  const random = seededRandom(seed);
  const scheduler = given ?? new VirtualScheduler({ tieBreak: random.fork('ties').next });
  const clock = nodeClock(scheduler);
  const node: NodeFacts = { ...simulatedFacts(nodeName), ...facts };
  let isDisposed = false;

  const fail = (error: unknown): void => {
    scheduler.schedule(() => {
      throw error;
    });
  };
  // Whoever listens is no part of the node: its errors must not be taken for those of a call.
  const tell = (event: WorldEvent): void => {
    if (isDisposed) return;
    try {
      hear(event);
    } catch (error) {
      fail(error);
    }
  };

  const disk: SimulatedDisk = simulatedDisk({
    scheduler,
    random: random.fork('disk'),
    latencyMs: behaviours.fileMs,
    usedBytes: () => runtime.imageBytes(),
  });
  const runtime = simulatedRuntime({
    ...{ scheduler, clock, disk, behaviours, nodeName, tell },
    random: random.fork('runtime'),
  });
  const network = simulatedNetwork({
    ...{ scheduler, tell, store: runtime.store, nodeIps: node.nodeIps },
    random: random.fork('network'),
    latencyMs: behaviours.networkMs,
  });

  const bootedAt = clock.now();
  const lives: AgentLife[] = [];
  let calls = 0;
  let agent: Kubelet | undefined;

  const portsOf = (life: AgentLife): KubeletPorts => {
    const record = journalOf(life, tell, scheduler, clock.now);
    const { lastKnown, ...diskPorts } = disk.ports(life.diskScheduler);
    const ports: KubeletPorts = {
      ...{ runtime: runtime.runtime, images: runtime.images, node, log, record },
      ...diskPorts,
      ...noCredentials,
      httpRequest: network().httpRequest,
      probeHandlers: simulatedProbes({ runtime, network, scheduler: life.scheduler }),
      recordEvent: eventsInto(record),
      metrics: noMetrics,
      scheduler: life.scheduler,
      wallClock: clock.now,
      random: random.fork(`agent/${life.number}`).next,
      runtimeName: RUNTIME_NAME,
      ...(cluster && {
        cluster: {
          lastKnown,
          api: cluster.connect({ kind: 'node', node: nodeName }),
          resetConnections: () => cluster.breakWatches('reset'),
          readMachine: () => of(simulatedMachine(node, bootedAt)),
          lookupHost: (name) => throwError(() => new Error(`lookup ${name}: no such host`)),
        },
      }),
    };
    return life.guarded(wrapPorts(ports, life.number));
  };

  const isAlive = (): boolean => lives.at(-1)?.isAlive ?? false;

  const start = (): void => {
    if (isAlive()) throw new Error(`the agent of ${nodeName} lives already`);
    tellUntold();
    const life = new AgentLife(lives.push(undefined as never), scheduler, { tell, nextNumber: () => ++calls });
    lives[life.number - 1] = life;
    tell({ kind: 'agent-started', at: scheduler.now(), life: life.number });
    const started = makeKubelet(portsOf(life), {
      ...(cluster && { cluster: simulatedClusterOptions(nodeName) }),
      ...options,
      ...{ sources, stop$: life.stop$ },
    });
    agent = started;
    life.run(started, {
      next: ({ uid }) => tellStatus(started, uid),
      end: (error) => {
        tell({ kind: 'agent-stopped', at: scheduler.now(), life: life.number, actionsLeft: leftBy(life) });
        if (error !== undefined) fail(error);
      },
    });
  };

  const tellStatus = (of: Kubelet, uid: WorkerOutcome['uid']): void => {
    const pod = of.pods().find(({ metadata }) => metadata.uid === uid);
    tell({ kind: 'status', at: scheduler.now(), uid, pod });
  };

  const kill = (): void => {
    const life = lives.at(-1);
    if (!life?.isAlive) return;
    life.die();
    // Where the agent dies in the middle of doing something, what it was about to take back is taken back on the way out.
    if (leftBy(life) === 0) tellEnd(life);
    else {
      untold = life;
      scheduler.schedule(tellUntold);
    }
  };
  const tellEnd = (life: AgentLife): void =>
    tell({ kind: 'agent-killed', at: scheduler.now(), life: life.number, actionsLeft: leftBy(life) });
  let untold: AgentLife | undefined;
  const tellUntold = (): void => {
    if (untold) tellEnd(untold);
    untold = undefined;
  };

  return {
    ...{ scheduler, runtime, disk, start, kill, isAlive, wallClock: clock.now },
    jumpClock: (byMs) => {
      clock.jump(byMs);
      tell({ kind: 'clock-set', at: scheduler.now(), aheadMs: clock.aheadMs() });
    },
    stop: (reason, graceSeconds) =>
      lives.at(-1)?.stop$.next({ reason, ...(graceSeconds !== undefined && { graceSeconds }) }),
    pods: () => (isAlive() ? (agent?.pods() ?? []) : []),
    health: () => (isAlive() ? agent?.health() : undefined),
    lives: () => lives.map(({ report }) => report),
    dispose: () => {
      isDisposed = true;
      lives.at(-1)?.die();
    },
  };
};

const leftBy = ({ report }: AgentLife): number => report.pendingActions + report.openCalls;

/** A journal that nobody keeps but whoever is told of its entries. */
const journalOf = (
  life: AgentLife,
  tell: TellWorld,
  scheduler: Pick<VirtualScheduler, 'now'>,
  wallClock: () => number,
): RecordJournal => {
  let count = 0;
  return (record) => {
    const id = `${life.number}-${++count}`;
    if (life.isAlive) {
      tell({ kind: 'journal', at: scheduler.now(), entry: { id, at: wallClock(), ...record } });
    }
    return id;
  };
};

/** Events of the Kubernetes API stand in the journal, as nobody else hears of them. */
const eventsInto =
  (record: RecordJournal): RecordEvent =>
  ({ pod, container, type, reason, message, causes }) => {
    record({ kind: 'event', type, reason, message, container, pod: pod && podRef(pod), causes });
  };

const nothing = (): void => undefined;
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

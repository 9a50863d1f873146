import { of, throwError } from 'rxjs';
import type { Kubelet, KubeletOptions, KubeletPorts } from '../../kubelet-options.js';
import { kubelet } from '../../kubelet.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import { type Pod, type PodRef, podRef } from '../../model/pod/pod.js';
import { noCredentials } from '../../streams/ports/credential-ports.js';
import { noMetrics } from '../../streams/ports/metrics.js';
import type { PodSources } from '../../streams/config/pod-config.js';
import type { WorkerOutcome } from '../../streams/pod-workers/pod-workers.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { RecordEvent } from '../../streams/ports/record-event.js';
import type { RecordJournal } from '../../streams/ports/record-journal.js';
import { AgentLife, type LifeReport } from './node/agent-life.js';
import type { SimulatedApiServer } from './api-server/simulated-api-server.js';
import type { NodeBehaviours } from './world/behaviour.js';
import { type NodeClock, nodeClock } from './world/node-clock.js';
import { RUNTIME_NAME } from './runtime/status-calls.js';
import type { RuntimeLoss } from './runtime/power-loss.js';
import { type SimulatedRuntime, simulatedRuntime } from './runtime/simulated-runtime.js';
import { seededRandom } from './world/seeded-random.js';
import { simulatedClusterOptions, simulatedMachine } from './node/simulated-cluster.js';
import { type DiskPower, type SimulatedDisk, simulatedDisk } from './disk/simulated-disk.js';
import type { ResourceUse } from './histories/history.js';
import { type ContainerUse, simulatedResources } from './node/simulated-resources.js';
import { simulatedShutdown } from './node/simulated-shutdown.js';
import { simulatedFacts } from './node/simulated-facts.js';
import { simulatedNetwork } from './network/simulated-network.js';
import { simulatedProbes } from './network/simulated-probes.js';
import { VirtualScheduler } from './world/virtual-scheduler.js';
import type { TellWorld } from './world/world-event.js';

export interface SimulatedNodeOptions {
  /** The seed of every draw of this node. */
  readonly seed: number | string;
  /** Shared with other nodes of the world, or with its sources. Default: a new scheduler that breaks ties at random. */
  readonly scheduler?: VirtualScheduler;
  readonly behaviours?: NodeBehaviours;
  /** Receives every event. Its errors are thrown by the scheduler. */
  readonly tell?: TellWorld;
  /**
   * The API server of the node's cluster, over the same scheduler; `options` has the cluster settings. None by default.
   */
  readonly cluster?: Pick<SimulatedApiServer, 'connect' | 'breakWatches'>;
  /** The sources, over the scheduler of this node; each life of the agent subscribes again. */
  readonly sources: PodSources;
  readonly options?: Omit<Partial<KubeletOptions>, 'sources' | 'stop$'>;
  /** Wraps the ports of each life of the agent: faults, a recorder. */
  readonly wrapPorts?: (ports: KubeletPorts, life: number) => KubeletPorts;
  /** Creates the agent of each life; `kubelet` by default, or a wrapper of it, such as a recorder. */
  readonly makeKubelet?: typeof kubelet;
  /** See `SimulatedDiskOptions.power`. */
  readonly power?: DiskPower;
  /** `node-1` by default. A pod whose `spec.nodeName` is another one is rejected, as on every node. */
  readonly nodeName?: string;
  /** Receives every pod that the agent rejects. By default the scheduler's next step throws an error that names the pod and the reason. */
  readonly rejected?: (rejection: SimulatedRejection) => void;
  /** What containers take of the resources of the node, by their names; nothing is measured without it. */
  readonly resourceUse?: ContainerUse;
  /** Other facts of the node than `simulatedFacts`. */
  readonly facts?: Partial<NodeFacts>;
  /** Logs nothing by default. */
  readonly log?: Logger;
}

/** A pod that a simulated node does not run. */
export interface SimulatedRejection {
  readonly pod: PodRef;
  /** As in the status of the pod, such as `NodeName`. */
  readonly reason: string;
  readonly message: string;
}

/** A node in virtual time: the production agent in a world of memory. Nothing happens until its scheduler advances. */
export interface SimulatedNode {
  readonly scheduler: VirtualScheduler;
  readonly runtime: SimulatedRuntime;
  readonly disk: SimulatedDisk;
  /** The agent's time in Unix milliseconds. */
  readonly wallClock: () => number;
  /** Begins a life of the agent. Errors: throws if one is alive. */
  readonly start: () => void;
  /** Ends the agent at this instant, like SIGKILL: its sent requests are still carried out. */
  readonly kill: () => void;
  /** Asks the agent to stop every pod and then to end. */
  readonly stop: (reason: string, graceSeconds?: number) => void;
  readonly isAlive: () => boolean;
  /** The machine is off from now on, with the agent, the runtime, all containers and the memory. Does nothing if it is off. */
  readonly losePower: (loss: RuntimeLoss) => void;
  /**
   * Asks the machine to shut down: it is off, with all of its files on the disk, once the agent has released its lock, and `maxDelayMs` later at
   * the latest. Calls `off` then. Does nothing if it is off, or about to be.
   */
  readonly shutDown: (maxDelayMs: number, off: () => void) => void;
  /** Boots the machine and starts the agent; the wall clocks of both processes are set by `clockByMs`. Does nothing if it is on. */
  readonly boot: (boot?: { readonly clockByMs?: number }) => void;
  readonly isOn: () => boolean;
  /** The pods of the living agent: see `Kubelet`. */
  readonly pods: () => readonly Pod[];
  readonly health: () => string | undefined;
  /** The pending or left-behind work of each life, the newest last. */
  readonly lives: () => readonly LifeReport[];
  /** Sets the time of day of the agent and of the runtime; pending timers are not affected. */
  readonly jumpClock: (byMs: number) => void;
  /** Takes some units of a resource for something beside the pods, or gives them back. Nothing is measured without `resourceUse`. */
  readonly fill: (resource: keyof ResourceUse, amount: number) => void;
  /** Sets one wall clock, or its speed: `rate` is its seconds in a second. Pending timers are not affected. */
  readonly setClock: (whose: 'agent' | 'runtime', change: { readonly byMs?: number; readonly rate?: number }) => void;
  /** Ends the agent without further events. */
  readonly dispose: () => void;
}

/**
 * Creates a node without a running agent.
 *
 * Errors: errors of the agent, or of a listener, are thrown by the scheduler's next step; so is the rejection of a pod
 * without the option `rejected`.
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
  rejected = ({ pod, reason, message }) => {
    throw new Error(
      `the simulated node ${nodeName} rejects the pod ${pod.namespace}/${pod.name}: ${reason}: ${message} (the option "rejected" receives what is meant to be rejected)`,
    );
  },
  power,
  resourceUse,
  facts,
  log = silent,
}: SimulatedNodeOptions): SimulatedNode => {
  const random = seededRandom(seed);
  const scheduler = given ?? new VirtualScheduler({ tieBreak: random.fork('ties').next });
  const clock = nodeClock(scheduler);
  const runtimeClock = nodeClock(scheduler);
  const node: NodeFacts = { ...simulatedFacts(nodeName), ...facts };
  let isDisposed = false;

  const fail = (error: unknown): void => {
    scheduler.schedule(() => {
      throw error;
    });
  };
  // A listener is no part of the node: its errors must not look like those of a call.
  const listener =
    <T>(listen: (value: T) => void) =>
    (value: T): void => {
      if (isDisposed) return;
      try {
        listen(value);
      } catch (error) {
        fail(error);
      }
    };
  const tell = listener(hear);
  const reject = listener(rejected);

  const disk: SimulatedDisk = simulatedDisk({
    scheduler,
    random: random.fork('disk'),
    latencyMs: behaviours.fileMs,
    ...(power && { power }),
    usedBytes: () => runtime.imageBytes(),
    intentChanged: (image, isOnDisk) => tell({ kind: 'pull-intent', at: scheduler.now(), image, isOnDisk }),
    volumeChanged: (kind, path, uid) => tell({ kind, at: scheduler.now(), path, uid }),
  });
  const runtime = simulatedRuntime({
    scheduler,
    clock: runtimeClock,
    disk,
    behaviours,
    nodeName,
    tell,
    random: random.fork('runtime'),
  });
  const network = simulatedNetwork({
    scheduler,
    tell,
    store: runtime.store,
    nodeIps: node.nodeIps,
    random: random.fork('network'),
    latencyMs: behaviours.networkMs,
  });

  const shutdown = simulatedShutdown(scheduler);
  const resources = simulatedResources({
    ...{ scheduler, tell },
    use: resourceUse ?? {},
    containers: () => runtime.store.containers.values(),
    imageBytes: runtime.imageBytes,
    wallClock: clock.now,
  });

  const madeAt = scheduler.now();
  let machine = { bootId: bootIdOf(1), bootedAt: clock.now(), bootedAfterMs: 0 };
  let boots = 1;
  let bootRuntime: (() => void) | undefined;
  const lives: AgentLife[] = [];
  let calls = 0;
  let agent: Kubelet | undefined;

  const portsOf = (life: AgentLife): KubeletPorts => {
    const journal = journalOf(life, tell, scheduler, clock.now);
    const record: RecordJournal = (entry) => {
      const id = journal(entry);
      if (life.isAlive && entry.kind === 'admission-rejected' && entry.pod) {
        const { pod, reason, message } = entry;
        reject({ pod, reason, message });
      }
      return id;
    };
    const { lastKnown, ...diskPorts } = disk.ports(life.diskScheduler);
    const ports: KubeletPorts = {
      runtime: runtime.runtime,
      images: runtime.images,
      node: power ? { ...node, bootId: machine.bootId } : node,
      log,
      record,
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
      shutdownInhibitor: shutdown.inhibitor(life),
      ...(resourceUse && { evictionFigures: resources.figures(life) }),
      ...(cluster && {
        cluster: {
          lastKnown,
          api: cluster.connect({ kind: 'node', node: nodeName }),
          resetConnections: () => cluster.breakWatches('reset'),
          readMachine: () => of(simulatedMachine(node, machine)),
          lookupHost: (name) => throwError(() => new Error(`lookup ${name}: no such host`)),
        },
      }),
    };
    return life.guarded(wrapPorts(ports, life.number));
  };

  const isAlive = (): boolean => lives.at(-1)?.isAlive ?? false;

  const start = (): void => {
    if (isAlive()) throw new Error(`the agent of ${nodeName} lives already`);
    if (bootRuntime) throw new Error(`the machine of ${nodeName} is off`);
    tellUntold();
    const told = { tell, nextNumber: () => ++calls };
    const life = new AgentLife(lives.push(undefined as never), scheduler, told, machine.bootedAfterMs);
    lives[life.number - 1] = life;
    tell({ kind: 'agent-started', at: scheduler.now(), life: life.number });
    const started = makeKubelet(portsOf(life), {
      ...(cluster && { cluster: simulatedClusterOptions(nodeName) }),
      ...options,
      sources,
      stop$: life.stop$,
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

  const clocks: Readonly<Record<'agent' | 'runtime', NodeClock>> = { agent: clock, runtime: runtimeClock };
  const setClock: SimulatedNode['setClock'] = (whose, { byMs, rate }) => {
    if (byMs !== undefined) clocks[whose].jump(byMs);
    if (rate !== undefined) clocks[whose].run(rate);
    const { aheadMs, rate: now } = clocks[whose].setting();
    tell({
      ...{ kind: whose === 'agent' ? 'clock-set' : 'runtime-clock-set', at: scheduler.now(), aheadMs },
      ...(now !== 1 && { rate: now }),
    });
  };

  const kill = (): void => {
    const life = lives.at(-1);
    if (!life?.isAlive) return;
    life.die();
    shutdown.lifeEnded(life);
    // If the agent dies in the middle of an action, the cancellations of that action follow.
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

  const jumpClock = (byMs: number): void => {
    setClock('runtime', { byMs });
    setClock('agent', { byMs });
  };
  const losePower: SimulatedNode['losePower'] = (loss) => {
    if (bootRuntime) return;
    tell({ kind: 'power-lost', at: scheduler.now() });
    kill();
    bootRuntime = runtime.losePower(loss);
    disk.losePower();
  };
  const shutDown: SimulatedNode['shutDown'] = (maxDelayMs, off) => {
    if (bootRuntime || shutdown.isPending()) return;
    tell({ kind: 'shutdown-requested', at: scheduler.now(), isDelayed: shutdown.isDelayed() });
    shutdown.request(maxDelayMs, () => {
      // It may have lost its power in the meantime.
      if (bootRuntime) return;
      disk.sync();
      losePower({ forgetsMs: 0 });
      off();
    });
  };
  const boot: SimulatedNode['boot'] = ({ clockByMs } = {}) => {
    if (!bootRuntime) return;
    if (clockByMs !== undefined) jumpClock(clockByMs);
    machine = { bootId: bootIdOf(++boots), bootedAt: clock.now(), bootedAfterMs: scheduler.now() - madeAt };
    tell({ kind: 'booted', at: scheduler.now(), bootId: machine.bootId });
    bootRuntime();
    bootRuntime = undefined;
    start();
  };

  return {
    scheduler,
    runtime,
    disk,
    start,
    kill,
    isAlive,
    losePower,
    shutDown,
    boot,
    isOn: () => bootRuntime === undefined,
    wallClock: clock.now,
    jumpClock,
    fill: resources.fill,
    setClock,
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

const bootIdOf = (count: number): string => `11111111-2222-3333-4444-${555_555_555_554 + count}`;

const leftBy = ({ report }: AgentLife): number => report.pendingActions + report.openCalls;

/** A journal whose entries are only emitted as events. */
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

/** Events of the Kubernetes API are journal entries, since they have no other receiver. */
const eventsInto =
  (record: RecordJournal): RecordEvent =>
  ({ pod, container, type, reason, message, causes }) => {
    record({ kind: 'event', type, reason, message, container, pod: pod && podRef(pod), causes });
  };

const nothing = (): void => undefined;
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

import { Subscription } from 'rxjs';
import type { CriCall, RuntimeService } from '../../../streams/ports/runtime-service.js';
import { CriError } from '../../../model/cri/cri-error.js';
import type { ImageService } from '../../../streams/ports/image-service.js';
import type { ExecSyncRequest, ExecSyncResponse } from '../../../generated/runtime/v1/api.js';
import type { NodeBehaviours, ProbeName } from '../world/behaviour.js';
import type { NodeClock } from '../world/node-clock.js';
import type { SeededRandom } from '../world/seeded-random.js';
import type { SimulatedDisk } from '../disk/simulated-disk.js';
import type { SchedulerShare, VirtualScheduler } from '../world/virtual-scheduler.js';
import type { SimulatedInstance, SimulatedPodSandbox, TellWorld } from '../world/world-event.js';
import { CallTransport } from './call-transport.js';
import type { SimulatedContainer } from './container.js';
import { containerCalls } from './container-calls.js';
import { EventStream } from './event-stream.js';
import { execCall } from './exec-call.js';
import { hexIds } from './hex-ids.js';
import { imageCalls } from './image-calls.js';
import { ImageStore } from './image-store.js';
import { powerLoss, type RuntimeLoss } from './power-loss.js';
import { Processes } from './processes.js';
import type { RuntimeParts } from './runtime-parts.js';
import { RuntimeStore } from './runtime-store.js';
import { sandboxCalls, stopSandbox } from './sandbox-calls.js';
import { stamps } from './stamps.js';
import { statusCalls } from './status-calls.js';

export interface SimulatedRuntimeOptions {
  readonly scheduler: VirtualScheduler;
  readonly clock: NodeClock;
  readonly random: SeededRandom;
  readonly disk: Pick<SimulatedDisk, 'writeLog' | 'endLog' | 'writeText' | 'writeInside'>;
  readonly behaviours?: NodeBehaviours;
  /** The suffix of static pods' names. */
  readonly nodeName?: string;
  readonly tell?: TellWorld;
  /** The deadline of a call, see `callDeadlineMs`; two minutes by default. */
  readonly requestTimeoutMs?: number;
}

/** A container runtime in memory and in virtual time that behaves like containerd towards the agent. */
export interface SimulatedRuntime {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** ExecSync for a probe: returns the container's reply to probes. */
  readonly execProbe: (which: ProbeName | undefined) => CriCall<ExecSyncRequest, ExecSyncResponse>;
  /**
   * Takes the daemon away for this long: pending calls break and further ones fail as `unavailable`, the stream of
   * events breaks, and its unfinished actions are dropped. Containers go on, and may end meanwhile. Does nothing while
   * it is away already.
   */
  readonly restart: (downMs: number) => void;
  readonly isUp: () => boolean;
  /** The machine is off: see `RuntimePower`. The returned function is its boot. */
  readonly losePower: (loss: RuntimeLoss) => () => void;
  /** Every sandbox that has not been removed. */
  readonly sandboxes: () => readonly (SimulatedPodSandbox & { readonly isReady: boolean; readonly ip: string })[];
  /** Every container that has not been removed. */
  readonly containers: () => readonly (SimulatedInstance & { readonly state: SimulatedContainer['state'] })[];
  /** Every running container. */
  readonly liveContainers: () => readonly SimulatedInstance[];
  /** Ends a container from outside. Does nothing if it does not run. */
  readonly crash: (containerId: string, exitCode: number, reason?: string) => void;
  /** Stops a sandbox and its containers from outside. Does nothing if it has stopped. */
  readonly crashSandbox: (sandboxId: string) => void;
  /** Bytes of all images. */
  readonly imageBytes: () => bigint;
  /** The listener at an address: see src/tools/sim/network/simulated-network.ts. @internal */
  readonly store: RuntimeStore;
}

/**
 * Every call takes a moment each way; its effect happens at one instant between the two, even if the caller has
 * cancelled it.
 */
export const simulatedRuntime = ({
  scheduler,
  clock,
  random,
  disk,
  behaviours = {},
  nodeName = '',
  tell = () => undefined,
  requestTimeoutMs = 120_000,
}: SimulatedRuntimeOptions): SimulatedRuntime => {
  let daemon: SchedulerShare = scheduler.share();
  const world = { scheduler, daemon: () => daemon, clock, random, behaviours, disk, nodeName, tell };
  const latencyMs = behaviours.callMs ?? { min: 1, max: 5 };
  const transport = new CallTransport({ scheduler, random: random.fork('calls'), latencyMs, requestTimeoutMs });
  const store = new RuntimeStore();
  const events = new EventStream(world, store);
  const stamp = stamps(clock);
  const processes = new Processes(world, events, stamp);
  const images = new ImageStore(world);
  const newId = hexIds(random.fork('ids'));
  const parts: RuntimeParts = { world, transport, store, events, processes, images, newId, stamp };

  let away = Subscription.EMPTY;
  const comeBack = (): void => {
    transport.comeUp();
    tell({ kind: 'runtime-started', at: scheduler.now() });
  };
  const restart = (downMs: number): void => {
    if (!transport.isUp) return;
    tell({ kind: 'runtime-stopped', at: scheduler.now() });
    daemon.close();
    daemon = scheduler.share();
    for (const container of store.containers.values()) container.isStarting = false;
    transport.goDown();
    events.break();
    store.forgetUnborn();
    away = scheduler.schedule(comeBack, downMs);
  };
  const losePower = (loss: RuntimeLoss): (() => void) => {
    away.unsubscribe();
    daemon.close();
    daemon = scheduler.share();
    transport.goDown();
    events.break();
    store.forgetUnborn();
    const boot = powerLoss(parts, loss);
    return () => {
      boot();
      comeBack();
    };
  };

  return {
    runtime: {
      ...statusCalls(parts),
      ...sandboxCalls(parts),
      ...containerCalls(parts),
      execSync: execCall(parts, 'other'),
      checkpointContainer: parts.transport.unary('CheckpointContainer', () => {
        throw new CriError('unimplemented', 'CheckpointContainer', 'method CheckpointContainer not implemented');
      }),
      containerEvents: () => events.listen(() => transport.isUp),
    },
    images: imageCalls(parts),
    execProbe: (which) => execCall(parts, { probe: which }),
    restart,
    losePower,
    isUp: () => transport.isUp,
    sandboxes: () => [...store.sandboxes.values()].map(({ told, isReady, ip }) => ({ ...told, isReady, ip })),
    containers: () => [...store.containers.values()].map(({ told, state }) => ({ ...told, state })),
    liveContainers: () => [...store.containers.values()].flatMap(({ told, isRunning }) => (isRunning ? [told] : [])),
    crash: (containerId, exitCode, reason) => {
      const container = store.containers.get(containerId);
      if (container) processes.exit(container, exitCode, reason);
    },
    crashSandbox: (sandboxId) => {
      const sandbox = store.sandboxes.get(sandboxId);
      if (sandbox) stopSandbox(parts, sandbox);
    },
    imageBytes: () => images.used(),
    store,
  };
};

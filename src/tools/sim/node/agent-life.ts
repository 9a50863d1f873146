import { defer, NEVER, Observable, Subject, type Subscription, tap } from 'rxjs';
import type { Kubelet, KubeletPorts } from '../../../kubelet-options.js';
import { errorText } from '../../../model/cri/cri-error.js';
import type { StopRequest } from '../../../streams/sync-loop/handle-stop.js';
import type { WorkerOutcome } from '../../../streams/pod-workers/pod-workers.js';
import type { SchedulerShare, VirtualScheduler } from '../world/virtual-scheduler.js';
import type { TellWorld } from '../world/world-event.js';

/** The pending work of a life of the agent; after its end, the work that it left behind and has not cancelled since. */
export interface LifeReport {
  readonly life: number;
  readonly isAlive: boolean;
  /** Pending timers. */
  readonly pendingActions: number;
  /** Calls of the runtime and over the network that have neither ended nor been cancelled. */
  readonly openCalls: number;
}

/** The listener of the agent's calls of the runtime, and their numbers in the world. */
export interface AgentCalls {
  readonly tell: TellWorld;
  readonly nextNumber: () => number;
}

/** One life of the agent, from its start to its end. */
export class AgentLife {
  /** Everything that the agent waits for. */
  readonly scheduler: SchedulerShare;
  /** The disk calls of the agent: carried out while it lives, even if it has cancelled them. */
  readonly diskScheduler: SchedulerShare;
  readonly stop$ = new Subject<StopRequest>();
  readonly #worldNow: () => number;
  #isAlive = true;
  #openCalls = 0;
  #subscription: Subscription | undefined;

  constructor(
    readonly number: number,
    scheduler: VirtualScheduler,
    private readonly told: AgentCalls,
    /** The time between the beginning of the world and the boot of the machine, in milliseconds. */
    bootedAfterMs = 0,
  ) {
    this.#worldNow = scheduler.now;
    this.scheduler = scheduler.share(bootedAfterMs);
    this.diskScheduler = scheduler.share();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get report(): LifeReport {
    return {
      life: this.number,
      isAlive: this.#isAlive,
      pendingActions: this.scheduler.pending,
      openCalls: this.#openCalls,
    };
  }

  run(agent: Kubelet, hear: { next: (outcome: WorkerOutcome) => void; end: (error?: unknown) => void }): void {
    const end = (error?: unknown): void => {
      if (this.die()) hear.end(error);
    };
    const next = (outcome: WorkerOutcome): void => {
      try {
        hear.next(outcome);
      } catch (error) {
        // rxjs would throw it from a timer of the real clock, after the run.
        end(error);
      }
    };
    const subscription = agent.outcome$.subscribe({
      next,
      error: (error: unknown) => end(error),
      complete: () => end(),
    });
    this.#subscription = subscription;
    // It may have died while it was starting.
    if (!this.#isAlive) subscription.unsubscribe();
  }

  /** Ends the life at this instant: none of its pending work happens. False if it was over. */
  die(): boolean {
    if (!this.#isAlive) return false;
    this.#isAlive = false;
    this.#subscription?.unsubscribe();
    this.scheduler.close();
    this.diskScheduler.close();
    return true;
  }

  /** The same ports, which count the calls, and which do nothing once this life is over. */
  guarded(ports: KubeletPorts): KubeletPorts {
    const { runtime, images, files, podFiles, volumeFiles, logFiles, pullRecords, probeRecords, probeHandlers } = ports;
    const { httpRequest, diskSpace, shutdownInhibitor, shutdownStates, evictionFigures, oomLog, checkpoints } = ports;
    const { cluster } = ports;
    const told: Around = (call$, name, request) => this.#told(criMethod(name), request, this.#counted(call$));
    const counted: Around = (call$) => this.#counted(call$);
    // The disk carries out every call, also a cancelled one: it may stay open for as long as it takes.
    const mere: Around = (call$) => defer(() => (this.#isAlive ? call$ : NEVER));
    return {
      ...ports,
      runtime: this.#guard(runtime, told),
      images: this.#guard(images, told),
      files: this.#guard(files, mere),
      podFiles: this.#guard(podFiles, mere),
      volumeFiles: this.#guard(volumeFiles, mere),
      logFiles: this.#guard(logFiles, mere),
      pullRecords: this.#guard(pullRecords, mere),
      ...(probeRecords && { probeRecords: this.#guard(probeRecords, mere) }),
      ...(probeHandlers && { probeHandlers: this.#guard(probeHandlers, counted) }),
      ...(shutdownInhibitor && { shutdownInhibitor: this.#guard(shutdownInhibitor, mere) }),
      ...(shutdownStates && { shutdownStates: this.#guard(shutdownStates, mere) }),
      ...(evictionFigures && { evictionFigures: this.#guard(evictionFigures, mere) }),
      ...(checkpoints && { checkpoints: this.#guard(checkpoints, mere) }),
      ...(oomLog && { oomLog: this.#guard(oomLog, mere) }),
      ...this.#guard({ diskSpace }, mere),
      ...this.#guard({ httpRequest }, counted),
      ...(cluster && {
        cluster: {
          ...this.#guard(cluster, mere),
          api: this.#guard(cluster.api, counted),
          ...(cluster.lastKnown && { lastKnown: this.#guard(cluster.lastKnown, mere) }),
        },
      }),
    };
  }

  #guard<Port extends object>(port: Port, around: Around): Port {
    const guarded = Object.entries(port).map(([name, call]) => [
      name,
      typeof call === 'function' ? this.#guardCall(name, call as Call, around) : (call as unknown),
    ]);
    return Object.fromEntries(guarded) as Port;
  }

  #guardCall(name: string, call: Call, around: Around): Call {
    return (...parameters) => {
      if (!this.#isAlive) return NEVER;
      const result = call(...parameters);
      return result instanceof Observable ? around(result, name, parameters[0] ?? {}) : result;
    };
  }

  /** The world is notified of the call at the times of the agent: at the call, and at its reply or cancellation. */
  #told(call: string, request: object, source: Observable<unknown>): Observable<unknown> {
    const { tell, nextNumber } = this.told;
    return new Observable((subscriber) => {
      if (!this.#isAlive) return;
      const number = nextNumber();
      const now = this.#worldNow;
      let isOver = false;
      const end = (error?: unknown): void => {
        if (isOver) return;
        isOver = true;
        tell({ kind: 'call-ended', at: now(), number, call, ...(error !== undefined && { error: errorText(error) }) });
      };
      tell({ kind: 'call', at: now(), number, call, request });
      // Notified before the caller continues, and before the call is cancelled.
      subscriber.add(() => {
        if (!isOver) tell({ kind: 'call-given-up', at: now(), number, call });
      });
      // A call has one reply, a stream goes on after each.
      const next = () => call !== EVENTS && end();
      subscriber.add(source.pipe(tap({ next, complete: () => end(), error: end })).subscribe(subscriber));
    });
  }

  #counted(source: Observable<unknown>): Observable<unknown> {
    return new Observable((subscriber) => {
      if (!this.#isAlive) return;
      this.#openCalls += 1;
      subscriber.add(() => (this.#openCalls -= 1));
      subscriber.add(source.subscribe(subscriber));
    });
  }
}

type Call = (...parameters: readonly unknown[]) => unknown;
/** The wrapper of a call of a port. */
type Around = (call$: Observable<unknown>, name: string, request: object) => Observable<unknown>;

const EVENTS = 'GetContainerEvents';

/** The CRI method of a port's call: `startContainer` is `StartContainer`. */
const criMethod = (name: string): string =>
  name === 'containerEvents' ? EVENTS : name.charAt(0).toUpperCase() + name.slice(1);

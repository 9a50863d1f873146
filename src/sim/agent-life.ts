import { defer, NEVER, Observable, Subject, type Subscription, tap } from 'rxjs';
import type { Kubelet, KubeletPorts } from '../kubelet.js';
import { errorText } from '../model/cri-error.js';
import type { StopRequest } from '../streams/sync-loop/handle-stop.js';
import type { WorkerOutcome } from '../streams/pod-workers.js';
import type { SchedulerShare, VirtualScheduler } from './virtual-scheduler.js';
import type { TellWorld } from './world-event.js';

/** What a life of the agent has under way; of one that is over, what it left behind and has not taken back since. */
export interface LifeReport {
  readonly life: number;
  readonly isAlive: boolean;
  /** Timers that wait. */
  readonly pendingActions: number;
  /** Calls of the runtime and over the network that nobody has ended or given up. */
  readonly openCalls: number;
}

/** Who hears of the agent's calls of the runtime, and how they are told apart in a world. */
export interface AgentCalls {
  readonly tell: TellWorld;
  readonly nextNumber: () => number;
}

/** One life of the agent, from its start to its end. */
export class AgentLife {
  /** Everything that the agent waits for. */
  readonly scheduler: SchedulerShare;
  /** What the agent has asked of the disk: done as long as it lives, whether or not it still waits. */
  readonly diskScheduler: SchedulerShare;
  readonly stop$ = new Subject<StopRequest>();
  #isAlive = true;
  #openCalls = 0;
  #subscription: Subscription | undefined;

  constructor(
    readonly number: number,
    scheduler: VirtualScheduler,
    private readonly told: AgentCalls,
  ) {
    this.scheduler = scheduler.share();
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
        // Left to rxjs, it would come out of a timer of the real clock, after everything.
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

  /** Nothing of it happens any more, from this instant on. False if it was over. */
  die(): boolean {
    if (!this.#isAlive) return false;
    this.#isAlive = false;
    this.#subscription?.unsubscribe();
    this.scheduler.close();
    this.diskScheduler.close();
    return true;
  }

  /** The same ports, which count what is asked, and which nobody can ask once this life is over. */
  guarded(ports: KubeletPorts): KubeletPorts {
    const { runtime, images, files, podFiles, logFiles, pullRecords, probeRecords, probeHandlers } = ports;
    const { httpRequest, diskSpace, cluster } = ports;
    const told: Around = (call$, name, request) => this.#told(criMethod(name), request, this.#counted(call$));
    const counted: Around = (call$) => this.#counted(call$);
    // What the disk was asked to do it does, also when nobody waits any more: it may stay open for as long as it takes.
    const mere: Around = (call$) => defer(() => (this.#isAlive ? call$ : NEVER));
    return {
      ...ports,
      runtime: this.#guard(runtime, told),
      images: this.#guard(images, told),
      files: this.#guard(files, mere),
      podFiles: this.#guard(podFiles, mere),
      logFiles: this.#guard(logFiles, mere),
      pullRecords: this.#guard(pullRecords, mere),
      ...(probeRecords && { probeRecords: this.#guard(probeRecords, mere) }),
      ...(probeHandlers && { probeHandlers: this.#guard(probeHandlers, counted) }),
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

  /** The world hears of the call as the agent does: when it asks, and when it has its answer or no longer wants one. */
  #told(call: string, request: object, source: Observable<unknown>): Observable<unknown> {
    const { tell, nextNumber } = this.told;
    return new Observable((subscriber) => {
      if (!this.#isAlive) return;
      const number = nextNumber();
      const now = (): number => this.scheduler.now();
      let isOver = false;
      const end = (error?: unknown): void => {
        if (isOver) return;
        isOver = true;
        tell({ kind: 'call-ended', at: now(), number, call, ...(error !== undefined && { error: errorText(error) }) });
      };
      tell({ kind: 'call', at: now(), number, call, request });
      // Told before whoever has asked goes on, and before what was asked is given up.
      subscriber.add(() => {
        if (!isOver) tell({ kind: 'call-given-up', at: now(), number, call });
      });
      // A call has one answer, a stream goes on after each.
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
/** What is put around a call of a port. */
type Around = (call$: Observable<unknown>, name: string, request: object) => Observable<unknown>;

const EVENTS = 'GetContainerEvents';

/** The CRI method of a port's call: `startContainer` is `StartContainer`. */
const criMethod = (name: string): string =>
  name === 'containerEvents' ? EVENTS : name.charAt(0).toUpperCase() + name.slice(1);

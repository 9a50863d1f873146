import { NEVER, Observable, Subject, type Subscription } from 'rxjs';
import type { Kubelet, KubeletPorts } from '../kubelet.js';
import type { StopRequest } from '../streams/sync-loop/handle-stop.js';
import type { WorkerOutcome } from '../streams/pod-workers.js';
import type { SchedulerShare, VirtualScheduler } from './virtual-scheduler.js';

/** What a life of the agent has under way; of one that is over, what it left behind. */
export interface LifeReport {
  readonly life: number;
  readonly isAlive: boolean;
  /** Timers that wait. */
  readonly pendingActions: number;
  /** Calls of ports that nobody has ended or given up. */
  readonly openCalls: number;
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
  #leftActions = 0;

  constructor(
    readonly number: number,
    scheduler: VirtualScheduler,
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
      pendingActions: this.#isAlive ? this.scheduler.pending : this.#leftActions,
      openCalls: this.#openCalls,
    };
  }

  run(agent: Kubelet, hear: { next: (outcome: WorkerOutcome) => void; end: (error?: unknown) => void }): void {
    const end = (error?: unknown): void => {
      if (this.die()) hear.end(error);
    };
    const subscription = agent.outcome$.subscribe({
      next: hear.next,
      error: (error: unknown) => end(error),
      complete: () => end(),
    });
    this.#subscription = subscription;
    if (!this.#isAlive) subscription.unsubscribe();
  }

  /** Nothing of it happens any more, from this instant on. False if it was over. */
  die(): boolean {
    if (!this.#isAlive) return false;
    this.#isAlive = false;
    this.#subscription?.unsubscribe();
    this.#leftActions = this.scheduler.pending;
    this.scheduler.close();
    this.diskScheduler.close();
    return true;
  }

  /** The same ports, which count what is asked, and which nobody can ask once this life is over. */
  guarded(ports: KubeletPorts): KubeletPorts {
    const { runtime, images, files, podFiles, logFiles, pullRecords, probeRecords, probeHandlers } = ports;
    return {
      ...ports,
      runtime: this.#guard(runtime),
      images: this.#guard(images),
      files: this.#guard(files),
      podFiles: this.#guard(podFiles),
      logFiles: this.#guard(logFiles),
      pullRecords: this.#guard(pullRecords),
      ...(probeRecords && { probeRecords: this.#guard(probeRecords) }),
      ...(probeHandlers && { probeHandlers: this.#guard(probeHandlers) }),
      ...this.#guard({ httpRequest: ports.httpRequest, diskSpace: ports.diskSpace }),
    };
  }

  #guard<Port extends object>(port: Port): Port {
    const guarded = Object.entries(port).map(([name, call]) => [
      name,
      typeof call === 'function' ? this.#guardCall(call as Call) : (call as unknown),
    ]);
    return Object.fromEntries(guarded) as Port;
  }

  #guardCall(call: Call): Call {
    return (...parameters) => {
      if (!this.#isAlive) return NEVER;
      const result = call(...parameters);
      return result instanceof Observable ? this.#counted(result as Observable<unknown>) : result;
    };
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

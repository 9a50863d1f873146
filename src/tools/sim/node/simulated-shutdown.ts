import { ignoreElements, merge, Observable, Subject } from 'rxjs';
import type { ShutdownInhibitor, ShutdownLock, ShutdownSignal } from '../../../streams/ports/shutdown-inhibitor.js';
import type { VirtualScheduler } from '../world/virtual-scheduler.js';
import type { AgentLife } from './agent-life.js';

/** The service of a simulated machine that shuts it down. */
export interface SimulatedShutdown {
  /** The port of one life of the agent. */
  readonly inhibitor: (life: AgentLife) => ShutdownInhibitor;
  /** Releases the locks of a life that has ended. */
  readonly lifeEnded: (life: AgentLife) => void;
  /** Asks for a shutdown. `turnOff` is called once no lock is held, and `maxDelayMs` later at the latest. */
  readonly request: (maxDelayMs: number, turnOff: () => void) => void;
  /** Whether a shutdown was requested, and the machine is not off yet. */
  readonly isPending: () => boolean;
  /** Whether a lock is held. */
  readonly isDelayed: () => boolean;
}

/** The time of every reply, in milliseconds. */
const REPLY_MS = 1;

export const simulatedShutdown = (scheduler: VirtualScheduler): SimulatedShutdown => {
  const signal$ = new Subject<ShutdownSignal>();
  const held = new Map<ShutdownLock, AgentLife>();
  let newest = 0;
  let longestMs = 5_000;
  let turnOff: (() => void) | undefined;
  const off = (): void => {
    const act = turnOff;
    turnOff = undefined;
    act?.();
  };
  // A hop later: the agent may be in the middle of the step that releases the lock.
  const settle = (): void => void scheduler.schedule(() => (held.size === 0 ? off() : undefined));

  return {
    inhibitor: (life) => {
      const reply = <T>(read: () => T): Observable<T> =>
        new Observable((subscriber) =>
          life.scheduler.schedule(() => {
            subscriber.next(read());
            subscriber.complete();
          }, REPLY_MS),
        );
      return {
        maxDelayMs: () => reply(() => longestMs),
        setMaxDelay: (seconds) => reply(() => (longestMs = seconds * 1_000)).pipe(ignoreElements()),
        takeLock: () =>
          reply(() => {
            held.set((newest += 1), life);
            return newest;
          }),
        releaseLock: (lock) => {
          if (held.delete(lock)) settle();
        },
        watch: () =>
          merge(
            reply(() => 'watching' as const),
            signal$,
          ),
      };
    },
    lifeEnded: (life) => {
      for (const [lock, holder] of [...held]) if (holder === life) held.delete(lock);
      settle();
    },
    isPending: () => turnOff !== undefined,
    isDelayed: () => held.size > 0,
    request: (maxDelayMs, act) => {
      turnOff = act;
      signal$.next('shutdown');
      settle();
      // Another shutdown may have been requested by then, after a boot.
      scheduler.schedule(() => (turnOff === act ? off() : undefined), maxDelayMs);
    },
  };
};

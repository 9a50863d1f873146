import { NEVER, startWith } from 'rxjs';
import { podSet } from '../../../model/pod/pod-set.js';
import { simulatedApiServer } from '../api-server/simulated-api-server.js';
import { seededRandom } from '../world/seeded-random.js';
import { type SimulatedNode, simulatedNode } from '../simulated-node.js';
import { VirtualScheduler } from '../world/virtual-scheduler.js';
import type { History } from './history.js';

/** Longer than any agent takes to forget removed pods; rare work has been done by then. */
const SETTLE_MS = 120_000;
/** The number of instants: every repeating timer of an idle agent is pending at one of them. */
const LOOKS = 40;
const LOOK_MS = 250;
/** After the longest grace period and the cleanup, a pod is gone. */
const PATIENCE_MS = 600_000;

/** The least pending work of an agent without pods. */
export interface Idle {
  readonly timers: number;
  readonly calls: number;
}

/**
 * Removes the pods of all sources and advances until the agent has forgotten them; returns its least pending work.
 * Undefined if pods stay, or without an agent.
 */
export const idleOf = (node: SimulatedNode): Idle | undefined => {
  const { scheduler } = node;
  const begin = scheduler.now();
  const isEmpty = (): boolean => node.pods().length === 0 && node.runtime.liveContainers().length === 0;
  while (!isEmpty() && scheduler.now() < begin + PATIENCE_MS) scheduler.runUntil(scheduler.now() + 1000);
  if (!isEmpty() || !node.isAlive()) return undefined;
  scheduler.runUntil(scheduler.now() + SETTLE_MS);
  let [timers, calls] = [Infinity, Infinity];
  for (let look = 0; look < LOOKS; look++) {
    scheduler.runUntil(scheduler.now() + LOOK_MS);
    const life = node.lives().at(-1)!;
    timers = Math.min(timers, life.pendingActions);
    calls = Math.min(calls, life.openCalls);
  }
  return { timers, calls };
};

const known = new Map<string, Idle>();

/** The pending work of an agent that has never had a pod. */
export const idleFromTheStart = ({
  node: { eventedPleg, eviction },
  cluster,
}: Pick<History, 'node' | 'cluster'>): Idle => {
  const kind = [eventedPleg ? 'evented' : 'generic', cluster ? 'in a cluster' : 'alone', eviction && 'evicts'].join(
    ' ',
  );
  let idle = known.get(kind);
  if (!idle) {
    const scheduler = new VirtualScheduler();
    const node = simulatedNode({
      seed: 'idle',
      ...(cluster && {
        scheduler,
        cluster: simulatedApiServer({ scheduler, random: seededRandom('idle api server') }),
      }),
      sources: { file: NEVER.pipe(startWith(podSet([]))) },
      ...(eviction && { resourceUse: eviction.use }),
      options: { eventedPleg, ...(eviction && { eviction: eviction.policy }) },
    });
    node.start();
    idle = idleOf(node)!;
    node.dispose();
    known.set(kind, idle);
  }
  return idle;
};

import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  NEVER,
  Observable,
  type SchedulerLike,
  take,
} from 'rxjs';
import type { KubeletPorts } from '../../../kubelet-options.js';
import type { Fault } from '../faults/fault.js';
import { type History, HISTORY_START_MS } from './history.js';

type KillAtStep = Extract<Fault, { readonly kind: 'agent-killed'; readonly atStep: number }>;

/**
 * Counts the calls of the agent, over all its lives, and kills it at the counts of the history; never in the quiet at
 * the end. Wraps the ports of a life.
 */
export const killAtSteps = (
  { faults, quietFromMs }: History,
  scheduler: SchedulerLike,
  kill: (downMs: number) => void,
): ((ports: KubeletPorts) => KubeletPorts) => {
  const kills = faults.filter((fault): fault is KillAtStep => fault.kind === 'agent-killed' && 'atStep' in fault);
  if (kills.length === 0) return (ports) => ports;
  const left = new Map(kills.map((fault) => [fault.atStep, fault]));
  const lastMs = HISTORY_START_MS + quietFromMs;
  let steps = 0;

  const counted = (ask: () => Observable<unknown>): Observable<unknown> =>
    defer(() => {
      const fault = left.get(++steps);
      if (!fault || scheduler.now() + fault.downMs >= lastMs) return ask();
      left.delete(steps);
      // A process dies between two turns of its loop, not in the middle of one.
      const die = (): void => void scheduler.schedule(() => kill(fault.downMs));
      if (fault.when === 'asked') {
        die();
        return ask();
      }
      const answered$ = ask().pipe(
        catchError(() => EMPTY),
        take(1),
        finalize(die),
        ignoreElements(),
      );
      return concat(answered$, NEVER);
    });
  const wrap = <Port extends object>(port: Port): Port =>
    Object.fromEntries(
      Object.entries(port as Readonly<Record<string, unknown>>).map(([name, call]) => [
        name,
        typeof call === 'function' && name !== 'containerEvents' && name !== 'watch' ? wrapCall(call as Call) : call,
      ]),
    ) as typeof port;
  const wrapCall =
    (call: Call): Call =>
    (...parameters) => {
      const result = call(...parameters);
      return result instanceof Observable ? counted(() => result as Observable<unknown>) : result;
    };
  return (ports) => ({
    ...ports,
    runtime: wrap(ports.runtime),
    images: wrap(ports.images),
    files: wrap(ports.files),
    podFiles: wrap(ports.podFiles),
    volumeFiles: wrap(ports.volumeFiles),
    pullRecords: wrap(ports.pullRecords),
    ...(ports.probeRecords && { probeRecords: wrap(ports.probeRecords) }),
    ...(ports.checkpoints && { checkpoints: wrap(ports.checkpoints) }),
    ...(ports.cluster && {
      cluster: {
        ...ports.cluster,
        api: wrap(ports.cluster.api),
        ...(ports.cluster.lastKnown && { lastKnown: wrap(ports.cluster.lastKnown) }),
      },
    }),
    ...(ports.probeHandlers && { probeHandlers: wrap(ports.probeHandlers) }),
  });
};

type Call = (...parameters: readonly unknown[]) => unknown;

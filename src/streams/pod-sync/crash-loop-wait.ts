import {
  type CrashLoopInput,
  crashLoopKey,
  decideBackOff,
  rememberEnd,
} from '../../model/pod-actions/crash-loop-back-off.js';
import type { ContainerToReset } from '../../model/pod-actions/pod-actions.js';
import { asksForAll } from '../../model/pod-actions/restart-all.js';
import type { StartWait } from '../../model/pod-actions/start-wait.js';
import { newestStatusOf, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { Container, EphemeralContainer } from '../../model/pod/pod.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { emitEvent, journal, type PodSyncContext } from './pod-sync-context.js';

export interface CrashLoopPorts {
  readonly state: Pick<KubeletState, 'restarts' | 'apply'>;
  /** Milliseconds; `crashLoopBackOff.maxContainerRestartPeriod`. */
  readonly maxRestartBackOffMs: number;
}

/** Returns the wait after a crash, with its journal entry and its event; undefined when the container may start now. */
export const crashLoopWait = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
  ports: CrashLoopPorts,
): StartWait | undefined => {
  const verdict = decideBackOff(inputOf(context, container, status, ports));
  const { name } = container;
  ports.state.apply({ kind: 'restart-backed-off', key: crashLoopKey(context.pod, container), entry: verdict.entry });
  if (!verdict.blocked) {
    const { unknownRestarts: unknown } = verdict;
    if (unknown !== undefined) journal(context, { kind: 'back-off-unknown', container: name, restarts: unknown });
    return undefined;
  }
  const { message, eventMessage, delayMs, until, step, steps, resetAfterMs, exitCode, isFromRuntime } = verdict;
  journal(context, {
    kind: 'back-off',
    subject: 'restart',
    container: name,
    exitCode,
    delayMs,
    until,
    step,
    steps,
    resetAfterMs,
    ...(isFromRuntime && { from: 'runtime' as const }),
  });
  emitEvent(context, 'Warning', 'BackOff', eventMessage, name);
  return { container: name, reason: 'CrashLoopBackOff', message, waitsUntil: until };
};

/** Remembers the end that restarts all containers, before its instance is removed. */
export const rememberTrigger = (
  context: PodSyncContext,
  { id, container }: ContainerToReset,
  status: RuntimePodStatus,
  ports: CrashLoopPorts,
): void => {
  const newest = newestStatusOf(status, container.name);
  if (newest?.id !== id || newest.state !== 'exited' || !asksForAll(container, newest.exitCode)) return;
  const entry = rememberEnd(inputOf(context, container, status, ports));
  ports.state.apply({ kind: 'restart-backed-off', key: crashLoopKey(context.pod, container), entry });
};

const inputOf = (
  { pod, ports: { wallClock } }: PodSyncContext,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
  { state, maxRestartBackOffMs }: CrashLoopPorts,
): CrashLoopInput => {
  const started = status.containers.filter(({ name, state }) => name === container.name && state !== 'created');
  const [newestExited, ...earlierExited] = started.filter(({ state }) => state === 'exited');
  const entry = state.restarts.get(crashLoopKey(pod, container));
  return {
    pod,
    container,
    entry,
    newestExited: started.length === 0 ? entry?.removed : newestExited,
    earlierExited,
    newest: started[0],
    oldestSandboxCreatedAt: oldestOf(status.sandboxes),
    now: wallClock(),
    maxMs: maxRestartBackOffMs,
  };
};

const oldestOf = (sandboxes: RuntimePodStatus['sandboxes']): bigint | undefined =>
  sandboxes
    .map(({ createdAt }) => createdAt)
    .reduce<bigint | undefined>((a, b) => (a !== undefined && a < b ? a : b), undefined);

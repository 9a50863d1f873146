import {
  type CrashLoopInput,
  crashLoopKey,
  decideBackOff,
  instanceAt,
  rememberEnd,
  timeAt,
} from '../../model/pod-actions/crash-loop-back-off.js';
import type { ContainerToReset } from '../../model/pod-actions/pod-actions.js';
import { asksForAll } from '../../model/pod-actions/restart-all.js';
import type { StartWait } from '../../model/pod-actions/start-wait.js';
import { newestStatusOf, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { Container, EphemeralContainer, Pod } from '../../model/pod/pod.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { emitEvent, journal, type PodSyncContext } from './pod-sync-context.js';

export interface CrashLoopPorts {
  readonly state: Pick<KubeletState, 'restarts' | 'knownEnds' | 'apply'>;
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
  const times = timesOf(context);
  const input = inputOf(context.pod, container, status, { ...ports, times });
  const verdict = decideBackOff(input);
  const { name } = container;
  const { uid } = context.pod.metadata;
  const isKnown = ports.state.knownEnds.get(uid)?.has(name) === true;
  ports.state.apply({
    kind: 'restart-backed-off',
    key: crashLoopKey(context.pod, container),
    entry: verdict.entry,
    ...(input.newestExited && { judged: { uid, container: name } }),
  });
  if (!verdict.blocked) {
    const { unknownRestarts: unknown } = verdict;
    // A changed image begins a new entry, although the ends of the former image are known.
    if (unknown !== undefined && !isKnown)
      journal(context, { kind: 'back-off-unknown', container: name, restarts: unknown });
    return undefined;
  }
  const { message, eventMessage, delayMs, step, steps, resetAfterMs, exitCode, isFromRuntime } = verdict;
  const until = Math.round(verdict.until - times.now + times.wallNow);
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
  const entry = rememberEnd(inputOf(context.pod, container, status, { ...ports, times: timesOf(context) }));
  ports.state.apply({ kind: 'restart-backed-off', key: crashLoopKey(context.pod, container), entry });
};

/** The same moment by the clock that is never set and by that of the machine, milliseconds. */
interface Times {
  readonly now: number;
  readonly wallNow: number;
}

const timesOf = ({ ports: { scheduler, wallClock } }: PodSyncContext): Times => ({
  now: scheduler.now(),
  wallNow: wallClock(),
});

const inputOf = (
  pod: Pod,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
  { state, maxRestartBackOffMs, times }: CrashLoopPorts & { readonly times: Times },
): CrashLoopInput => {
  const started = status.containers
    .filter(({ name, state }) => name === container.name && state !== 'created')
    .map((instance) => instanceAt(instance, times));
  const [newestExited, ...earlierExited] = started.filter(({ state }) => state === 'exited');
  const entry = state.restarts.get(crashLoopKey(pod, container));
  const oldestSandbox = oldestOf(status.sandboxes);
  return {
    pod,
    container,
    entry,
    newestExited: started.length === 0 ? entry?.removed : newestExited,
    earlierExited,
    newest: started[0],
    oldestSandboxCreatedAt: oldestSandbox === undefined ? undefined : timeAt(oldestSandbox, times),
    now: times.now,
    maxMs: maxRestartBackOffMs,
  };
};

const oldestOf = (sandboxes: RuntimePodStatus['sandboxes']): bigint | undefined =>
  sandboxes
    .map(({ createdAt }) => createdAt)
    .reduce<bigint | undefined>((a, b) => (a !== undefined && a < b ? a : b), undefined);

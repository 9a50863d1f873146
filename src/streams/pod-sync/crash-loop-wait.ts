import { concatMap, defer, EMPTY, map, type Observable, of } from 'rxjs';
import {
  type CrashLoopInput,
  crashLoopKey,
  decideBackOff,
  instanceAt,
  rememberEnd,
} from '../../model/pod-actions/crash-loop-back-off.js';
import { type EndVerdict, endVerdict } from '../../model/pod-actions/end-counts.js';
import type { ContainerToReset } from '../../model/pod-actions/pod-actions.js';
import { asksForAll } from '../../model/pod-actions/restart-all.js';
import type { StartWait } from '../../model/pod-actions/start-wait.js';
import { newestStatusOf, type RuntimeContainerStatus, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { Container, EphemeralContainer, Pod } from '../../model/pod/pod.js';
import { crashesOf } from '../../model/cri/labels.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { isStopBegun } from './begun-stops.js';
import { emitEvent, journal, type PodSyncContext } from './pod-sync-context.js';

export interface CrashLoopPorts {
  readonly state: Pick<KubeletState, 'restarts' | 'apply'>;
  /** Milliseconds; `crashLoopBackOff.maxContainerRestartPeriod`. */
  readonly maxRestartBackOffMs: number;
}

/**
 * Emits the wait after a crash, with its journal entry and its event; completes when the container may start now. Errors: none.
 */
export const crashLoopWait = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
  ports: CrashLoopPorts,
): Observable<StartWait> =>
  defer(() => verdictOnEnd(context, container, status)).pipe(
    concatMap((end) => {
      const wait = waitAfter(end, context, container, status, ports);
      return wait ? of(wait) : EMPTY;
    }),
  );

/** The verdict on the newest instance, which the agent may have marked before it stopped it. */
const verdictOnEnd = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
): Observable<EndVerdict | undefined> => {
  const [instance] = startedOf(status, container);
  if (!instance) return of(undefined);
  const facts = { instance, container, isSandboxReady: isSandboxReady(status, instance) };
  if (instance.state !== 'exited') return of(endVerdict({ ...facts, isStopped: false }));
  return isStopBegun(context, status, instance.id).pipe(map((isStopped) => endVerdict({ ...facts, isStopped })));
};

const waitAfter = (
  end: EndVerdict | undefined,
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
  ports: CrashLoopPorts,
): StartWait | undefined => {
  const times = timesOf(context);
  const input = { ...inputOf(context.pod, container, status, { ...ports, times }), end };
  const verdict = decideBackOff(input);
  const { name } = container;
  ports.state.apply({
    kind: 'restart-backed-off',
    key: crashLoopKey(context.pod, container),
    entry: verdict.entry,
  });
  if (!verdict.blocked) {
    const { uncounted } = verdict;
    const exitCode = input.newestExited?.exitCode;
    if (uncounted !== undefined)
      journal(context, { kind: 'end-not-counted', container: name, exitCode, because: uncounted });
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
  const started = startedOf(status, container).map((instance) => instanceAt(instance, times));
  const [newest] = started;
  const entry = state.restarts.get(crashLoopKey(pod, container));
  return {
    pod,
    container,
    entry,
    newestExited: newest ? started.find(({ state }) => state === 'exited') : entry?.removed,
    newest,
    shownCrashes: newest && isSandboxReady(status, newest) ? crashesOf(newest.annotations) : undefined,
    now: times.now,
    maxMs: maxRestartBackOffMs,
  };
};

/** The instances of the container that have been started, newest first. */
const startedOf = ({ containers }: RuntimePodStatus, { name }: { readonly name: string }) =>
  containers.filter((instance) => instance.name === name && instance.state !== 'created');

const isSandboxReady = ({ sandboxes }: RuntimePodStatus, { sandboxId }: Pick<RuntimeContainerStatus, 'sandboxId'>) =>
  sandboxes.some(({ id, state }) => id === sandboxId && state === 'SANDBOX_READY');

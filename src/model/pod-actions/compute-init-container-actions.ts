import { containerHash, isSameHash } from './container-hash.js';
import { type ActuatedAmounts, instanceResize } from '../resize/actuated.js';
import type { PlannedAction } from '../journal/journal.js';
import { type Container, isSidecar, type Pod } from '../pod/pod.js';
import type { ContainerToKill, KillReason, ProbeResults } from './pod-actions.js';
import { restartsAfterKill, restartVerdict, shouldRestart } from './restart-policy.js';
import { newestStatusOf, type RuntimeContainerStatus, type RuntimePodStatus } from '../pleg/runtime-pod.js';

export interface InitContainerActions {
  /** Every init container is done and every sidecar up: the regular containers may start. */
  readonly initialized: boolean;
  /** An init container failed for good. */
  readonly killPod: boolean;
  /** Names, in the order of the spec. */
  readonly start: readonly string[];
  readonly kill: readonly ContainerToKill[];
  readonly reasons: readonly PlannedAction[];
}

export interface InitContainerInput {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly probeResults?: ProbeResults | undefined;
  /** As in `PodActionsInput`. */
  readonly actuated?: ActuatedAmounts | undefined;
}

/** The actions for one init container with a status. */
interface Step {
  readonly start?: readonly string[];
  readonly kill?: ContainerToKill;
  readonly initialized?: true;
  readonly failed?: true;
  readonly reasons: readonly PlannedAction[];
}

/**
 * Decides the actions for the init containers of a pod, from the last one to the first: the last one that has run shows that the
 * regular ones before it are done, even if the runtime has forgotten them.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go computeInitContainerActions.
 */
export const computeInitContainerActions = (input: InitContainerInput): InitContainerActions => {
  const { pod, status } = input;
  const containers = pod.spec.initContainers ?? [];
  if (containers.length === 0) return { initialized: true, killPod: false, start: [], kill: [], reasons: [] };

  // Exited containers do not count: after a reboot all have exited, and initialization starts over. Nor do containers of an earlier
  // sandbox: there the init containers have run, here they have not.
  const [sandbox] = status.sandboxes;
  let initialized = pod.spec.containers.some(({ name }) => {
    const newest = newestStatusOf(status, name);
    return (newest?.state === 'running' || newest?.state === 'created') && newest.sandboxId === sandbox?.id;
  });
  let laterHasRun = initialized;
  const start: string[] = [];
  const kill: ContainerToKill[] = [];
  const reasons: PlannedAction[] = [];

  for (const [index, container] of [...containers.entries()].reverse()) {
    const newest = newestStatusOf(status, container.name);
    if (newest === undefined) {
      if (laterHasRun && isSidecar(container)) {
        start.push(container.name);
        reasons.push(toStart(container, 'it is a sidecar that has no instance although later containers have run'));
      }
      continue;
    }
    if (laterHasRun && !isSidecar(container)) continue;

    const step = isSidecar(container)
      ? sidecarStep(input, index, container, newest, laterHasRun)
      : initStep(input, index, container, newest);
    reasons.push(...step.reasons);
    if (step.failed) return { initialized: false, killPod: true, start: [], kill, reasons };
    start.push(...(step.start ?? []));
    if (step.kill) kill.push(step.kill);
    initialized ||= step.initialized ?? false;
    laterHasRun = true;
  }

  const [first] = containers;
  if (!laterHasRun && first) {
    start.push(first.name);
    reasons.push(toStart(first, 'no init container has run in this sandbox yet'));
  }
  return { initialized, killPod: false, start: start.reverse(), kill, reasons: reasons.reverse() };
};

const initStep = (
  { pod }: InitContainerInput,
  index: number,
  container: Container,
  newest: RuntimeContainerStatus,
): Step => {
  const { name } = container;
  switch (newest.state) {
    case 'created':
      return { start: [name], reasons: [toStart(container, 'it was created but never started')] };
    case 'running':
      return { reasons: [toKeep(container, 'it is running; the containers after it wait for its end')] };
    case 'exited': {
      const { exitCode, reason } = newest;
      if (exitCode === 0 && reason !== 'OOMKilled')
        return afterDone(pod, index, `init container ${name} has completed`);
      const { because } = restartVerdict(pod, container, exitCode);
      const failure = `init container ${name} failed with code ${exitCode}${reason === '' ? '' : ` (${reason})`}`;
      return shouldRestart(pod, container, exitCode)
        ? { start: [name], reasons: [{ action: 'start-init', container: name, because: `${failure} and ${because}` }] }
        : failed(`${failure} and ${isDeleting(pod) ? 'the pod is being deleted' : because}`);
    }
    case 'unknown':
      return restartsAfterKill(pod, container)
        ? restart(container, newest, UNKNOWN_STATE, 'Unknown', 'the runtime does not know its state')
        : failed(`the runtime does not know the state of init container ${name} and restartPolicy Never leaves it`);
  }
};

const sidecarStep = (
  { pod, probeResults, actuated }: InitContainerInput,
  index: number,
  container: Container,
  newest: RuntimeContainerStatus,
  laterHasRun: boolean,
): Step => {
  const { name } = container;
  switch (newest.state) {
    case 'created':
      return { start: [name], reasons: [toStart(container, 'it was created but never started')] };
    case 'exited':
      return {
        start: [name],
        reasons: [toStart(container, `it is a sidecar and exited with code ${newest.exitCode}`)],
      };
    case 'unknown':
      return restart(container, newest, UNKNOWN_STATE, 'Unknown', 'the runtime does not know its state');
    case 'running': {
      if (probeResults && container.startupProbe) {
        const verdict = probeResults.startup(newest.id);
        if (verdict === 'failure') {
          return restart(
            container,
            newest,
            `Init container ${name} failed startup probe`,
            'StartupProbe',
            'its startup probe failed',
          );
        }
        if (verdict === undefined) {
          return { reasons: [toKeep(container, 'it is running; the containers after it wait for its startup probe')] };
        }
      }
      // The next container is started even if this one is to be replaced below: it has been up.
      const onwards: Step = laterHasRun
        ? { reasons: [toKeep(container, 'it is running')] }
        : afterDone(pod, index, `sidecar ${name} is up`);
      const replaced = replacement(pod, container, newest, { probeResults, actuated });
      if (replaced === undefined) return onwards;
      return {
        ...onwards,
        kill: replaced.kill,
        // The list is built backwards.
        start: [...(onwards.start ?? []), name],
        reasons: [...onwards.reasons.filter(({ action }) => action !== 'keep'), ...replaced.reasons],
      };
    }
  }
};

/** Why a sidecar that runs and is up has to be replaced, if it has to. */
const replacement = (
  pod: Pod,
  container: Container,
  newest: RuntimeContainerStatus,
  { probeResults, actuated }: Pick<InitContainerInput, 'probeResults' | 'actuated'>,
): Required<Pick<Step, 'kill' | 'reasons'>> | undefined => {
  const { name } = container;
  if (!isSameHash(newest.hash, containerHash(container))) {
    const message = `Init container ${name} definition changed`;
    return restart(container, newest, message, 'DefinitionChanged', 'its image or name changed in the spec');
  }
  if (container.livenessProbe && probeResults?.liveness(newest.id) === 'failure') {
    const message = `Init container ${name} failed liveness probe`;
    return restart(container, newest, message, 'LivenessProbe', 'its liveness probe failed');
  }
  if (actuated && instanceResize(pod, container, newest, actuated)?.kind === 'restart') {
    return restart(container, newest, resizeMessage(name), 'Resize', RESIZE_RESTART);
  }
  return undefined;
};

/** The text of the event. Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go */
export const resizeMessage = (name: string): string => `Container ${name} resize requires restart`;
export const RESIZE_RESTART = 'the pod was resized, and the resizePolicy asks for a restart';

const UNKNOWN_STATE = 'Init container is in "unknown" state, try killing it before restart';

const afterDone = (pod: Pod, index: number, done: string): Step => {
  const next = pod.spec.initContainers?.[index + 1];
  return next === undefined
    ? { initialized: true, reasons: [{ action: 'keep', because: `${done} and was the last: the pod is initialized` }] }
    : { start: [next.name], reasons: [{ action: 'start-init', container: next.name, because: `${done}` }] };
};

const restart = (
  container: Container,
  { id }: RuntimeContainerStatus,
  message: string,
  reason: KillReason,
  why: string,
): Required<Pick<Step, 'kill' | 'start' | 'reasons'>> => ({
  start: [container.name],
  kill: { id, name: container.name, container, message, reason },
  reasons: [
    toStart(container, `it is killed because ${why}`),
    { action: 'kill', container: container.name, because: `init container ${container.name} is killed: ${why}` },
  ],
});

const failed = (because: string): Step => ({ failed: true, reasons: [{ action: 'kill-pod', because }] });

const isDeleting = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;

const toStart = ({ name }: Container, because: string): PlannedAction => ({
  action: 'start-init',
  container: name,
  because: `init container ${name} is not running: ${because}`,
});

const toKeep = ({ name }: Container, because: string): PlannedAction => ({
  action: 'keep',
  container: name,
  because: `init container ${name} stays: ${because}`,
});

/**
 * Returns the instances of init containers to remove, in the order of `containers`, which has the newest ones first: all of them, in any
 * state, or the ended ones except the newest of each name.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go pruneInitContainersBeforeStart, purgeInitContainers
 */
export const surplusInitContainers = (
  pod: Pod,
  containers: readonly RuntimeContainerStatus[],
  which: 'all' | 'all-but-newest',
): readonly RuntimeContainerStatus[] => {
  const names = new Set((pod.spec.initContainers ?? []).map(({ name }) => name));
  const kept = new Set<string>();
  return containers.filter(({ name, state }) => {
    if (!names.has(name)) return false;
    if (which === 'all') return true;
    if (state !== 'exited' && state !== 'unknown') return false;
    if (kept.has(name)) return true;
    kept.add(name);
    return false;
  });
};

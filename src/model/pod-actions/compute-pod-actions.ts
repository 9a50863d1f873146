import { computeInitContainerActions, RESIZE_RESTART, resizeMessage } from './compute-init-container-actions.js';
import { containerHash, isSameHash } from './container-hash.js';
import type { PlannedAction } from '../journal/journal.js';
import type { Container, Pod, PodStatus } from '../pod/pod.js';
import type { ContainerToKill, ContainerToReset, KillReason, PodActions, ProbeResults } from './pod-actions.js';
import { type ActuatedAmounts, instanceResize } from '../resize/actuated.js';
import { asksForAll } from './restart-all.js';
import { restartsAfterKill, restartVerdict, runsUntilSuccess } from './restart-policy.js';
import { newestStatusOf, type RuntimeContainerStatus, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import { sandboxChanged, type SandboxVerdict } from './sandbox-changed.js';
import { allNamed, firstNamed } from '../values/indexed-lists.js';

export interface PodActionsInput {
  readonly pod: Pod;
  /** The runtime's view; `withShownEnds` gives it the ends that the runtime has lost. */
  readonly status: RuntimePodStatus;
  /** Absent without probes: then no probe delays or kills a container. */
  readonly probeResults?: ProbeResults;
  /** The pod's condition AllContainersRestarting is True. */
  readonly restartAll?: boolean;
  /** The last status of the pod: it holds the ends of containers that the runtime has lost since. */
  readonly last?: PodStatus;
  /** What the instances of a pod that was resized were given since their creation. Absent for any other pod. */
  readonly actuated?: ActuatedAmounts | undefined;
}

/**
 * Decides the actions for a pod from its spec and from the runtime's view of it. Every decision has a reason in words.
 * docs/decisions.md shows the whole table.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions.
 */
export const computePodActions = (input: PodActionsInput): PodActions => {
  const sandbox = sandboxChanged(input.pod, input.status);
  if (input.restartAll) return resetAll(input, sandbox);
  return sandbox.changed ? startOver(input, sandbox) : carryOn(input, sandbox);
};

const nothing = ({ sandboxId, attempt }: SandboxVerdict): PodActions => ({
  killPod: false,
  createSandbox: false,
  sandboxId,
  attempt,
  initContainersToStart: [],
  containersToStart: [],
  ephemeralContainersToStart: [],
  containersToKill: [],
  containersToReset: [],
  containersToUpdate: [],
  reasons: [],
});

/**
 * Removes all containers, the ones that triggered it last: if the agent dies in between, the next one still finds the trigger.
 */
const resetAll = ({ pod, status }: PodActionsInput, sandbox: SandboxVerdict): PodActions => {
  const instancesOf = (containers: readonly Container[] = []) =>
    containers.flatMap((container) =>
      allNamed(status.containers, container.name).map((instance) => ({
        reset: { id: instance.id, name: instance.name, container, kill: instance.state !== 'exited' },
        triggering: instance.state === 'exited' && asksForAll(container, instance.exitCode),
      })),
    );
  const instances = [...instancesOf(pod.spec.containers), ...instancesOf(pod.spec.initContainers)];
  const containersToReset: ContainerToReset[] = [
    ...instances.filter(({ triggering }) => !triggering),
    ...instances.filter(({ triggering }) => triggering),
  ].map(({ reset }) => reset);
  return {
    ...nothing(sandbox),
    containersToReset,
    reasons: containersToReset.map(({ name, kill }) => ({
      action: 'reset',
      container: name,
      because: `container ${name} is ${kill ? 'killed and ' : ''}removed: a restart rule asked for all containers to restart`,
    })),
  };
};

/**
 * Returns why a container without an instance does not run again: it has ended for good, and the runtime has lost it. Upstream
 * runs it a second time. Returns undefined for all others.
 */
const endedBefore = ({ pod, status, last }: PodActionsInput, container: Container): string | undefined => {
  if (newestStatusOf(status, container.name)) return undefined;
  const ended = firstNamed(last?.containerStatuses ?? [], container.name)?.state?.terminated;
  if (!ended) return undefined;
  const { restart, because } = restartVerdict(pod, container, ended.exitCode);
  return restart
    ? undefined
    : `the runtime has lost it, its status says that it exited with code ${ended.exitCode}, and ${because}`;
};

const startOver = (input: PodActionsInput, sandbox: SandboxVerdict): PodActions => {
  const { pod, status } = input;
  const killed: PodActions = {
    ...nothing(sandbox),
    killPod: true,
    reasons:
      status.sandboxes.length === 0 && status.containers.length === 0
        ? []
        : [{ action: 'kill-pod', because: sandbox.because }],
  };
  const leave = (because: string): PodActions => ({
    ...killed,
    reasons: [...killed.reasons, { action: 'keep', because }],
  });

  // A created container has not run, and would wait for ever.
  const hasRun = status.containers.some(({ state }) => state !== 'created');
  if (pod.spec.restartPolicy === 'Never' && sandbox.attempt !== 0 && hasRun) {
    return leave('no new sandbox: the containers have run and restartPolicy Never leaves them');
  }

  const hasSucceeded = (container: Container) => {
    const newest = newestStatusOf(status, container.name);
    return runsUntilSuccess(pod, container) && newest?.state === 'exited' && newest.exitCode === 0;
  };
  const lost = new Map(pod.spec.containers.map((container) => [container.name, endedBefore(input, container)]));
  const toRun = pod.spec.containers.filter(
    (container) => !hasSucceeded(container) && lost.get(container.name) === undefined,
  );
  const runs = new Set(toRun);
  const everCreated = pod.spec.containers.some(({ name }) => {
    const state = newestStatusOf(status, name)?.state;
    return state !== undefined && state !== 'unknown';
  });
  if (toRun.length === 0 && everCreated) return leave('no new sandbox: every container has succeeded');
  if (toRun.length === 0)
    return leave('no new sandbox: every container has ended for good, and the runtime has lost them');

  const createSandbox: PlannedAction = { action: 'create-sandbox', because: sandbox.because };
  const left: PlannedAction[] = pod.spec.containers
    .filter((container) => !runs.has(container))
    .map(({ name }) => ({
      action: 'keep',
      container: name,
      because: `container ${name} does not run again: ${lost.get(name) ?? 'it has succeeded and restartPolicy OnFailure leaves it'}`,
    }));
  const [firstInit] = pod.spec.initContainers ?? [];
  if (firstInit !== undefined) {
    return {
      ...killed,
      createSandbox: true,
      initContainersToStart: [firstInit.name],
      reasons: [
        ...killed.reasons,
        createSandbox,
        {
          action: 'start-init',
          container: firstInit.name,
          because: `init container ${firstInit.name} comes first in a new sandbox`,
        },
        ...left,
      ],
    };
  }
  return {
    ...killed,
    createSandbox: true,
    containersToStart: toRun.map(({ name }) => name),
    reasons: [
      ...killed.reasons,
      createSandbox,
      ...toRun.map(({ name }): PlannedAction => ({
        action: 'start',
        container: name,
        because: `container ${name} starts in a new sandbox`,
      })),
      ...left,
    ],
  };
};

const carryOn = (input: PodActionsInput, sandbox: SandboxVerdict): PodActions => {
  const { pod, status } = input;
  const ephemeral = (pod.spec.ephemeralContainers ?? []).filter(({ name }) => !newestStatusOf(status, name));
  const init = computeInitContainerActions(input);
  const doubles = doublesIn(input);
  const soFar: PodActions = {
    ...nothing(sandbox),
    killPod: init.killPod,
    ephemeralContainersToStart: ephemeral.map(({ name }) => name),
    initContainersToStart: init.start,
    containersToKill: [...doubles, ...init.kill],
    reasons: [
      ...doubles.map(({ name }): PlannedAction => ({
        action: 'kill',
        container: name,
        because: `container ${name} is killed: a newer instance has taken its place`,
      })),
      ...ephemeral.map(({ name }): PlannedAction => ({
        action: 'start-ephemeral',
        container: name,
        because: `ephemeral container ${name} has never run`,
      })),
      ...init.reasons,
    ],
  };
  if (init.killPod) return soFar;
  if (!init.initialized) return withUpdates(input, soFar);

  const decisions = pod.spec.containers.map((container) => ({ container, ...decide(input, container) }));
  const reasons = [...soFar.reasons, ...decisions.flatMap(({ reasons }) => reasons)];
  const containersToKill = [...soFar.containersToKill, ...decisions.flatMap(({ kill }) => kill ?? [])];
  if (!decisions.some(({ keep, start }) => keep || start)) {
    return {
      ...soFar,
      killPod: true,
      // Sidecars must not keep a pod running that has no other container left.
      initContainersToStart: [],
      containersToKill,
      reasons: [
        ...reasons.filter(({ action }) => action !== 'start-init'),
        { action: 'kill-pod', because: 'no container runs and none is to be started' },
      ],
    };
  }
  return withUpdates(input, {
    ...soFar,
    containersToStart: decisions.filter(({ start }) => start).map(({ container }) => container.name),
    containersToKill,
    reasons,
  });
};

/** Adds the running containers that stay and get other amounts. */
const withUpdates = ({ pod, status, actuated }: PodActionsInput, actions: PodActions): PodActions => {
  if (!actuated) return actions;
  const killed = new Set(actions.containersToKill.map(({ id }) => id));
  const updates = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap((container) => {
    const newest = newestStatusOf(status, container.name);
    if (newest?.state !== 'running' || killed.has(newest.id)) return [];
    const resize = instanceResize(pod, container, newest, actuated);
    return resize?.kind === 'update' ? [resize.update] : [];
  });
  const reasons = updates.map(({ container: { name } }): PlannedAction => ({
    action: 'update',
    container: name,
    because: `container ${name} is given other amounts of CPU or memory: the pod was resized`,
  }));
  return { ...actions, containersToUpdate: updates, reasons: [...actions.reasons, ...reasons] };
};

/**
 * Instances that run although a newer one exists: the runtime reported their end too early, or started them after an error.
 * Upstream checks only the newest instance.
 */
const doublesIn = ({ pod, status }: PodActionsInput): readonly ContainerToKill[] => {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  return containers.flatMap((container) => {
    const [, ...older] = allNamed(status.containers, container.name);
    return older
      .filter(({ state }) => state === 'running')
      .map(({ id, name }): ContainerToKill => {
        const message = `Stopping an earlier instance of container ${name} that still runs`;
        return { id, name, container, message, reason: 'Superseded' };
      });
  });
};

interface Decision {
  readonly keep?: true;
  readonly start?: boolean;
  readonly kill?: ContainerToKill;
  readonly reasons: readonly PlannedAction[];
}

/** One regular container of an initialized pod in a sandbox that stays. */
const decide = (input: PodActionsInput, container: Container): Decision => {
  const { pod, status } = input;
  const { name } = container;
  const newest = newestStatusOf(status, name);
  if (newest?.state === 'running') return decideRunning(input, container, newest);

  const leave = (because: string): Decision => ({ reasons: [{ action: 'keep', container: name, because }] });
  const start = (because: string): Decision => ({
    start: true,
    reasons: [{ action: 'start', container: name, because: `container ${name} is not running: ${because}` }],
  });
  if (pod.metadata.deletionTimestamp !== undefined) {
    return leave(`container ${name} is not started: the pod is being deleted`);
  }
  switch (newest?.state) {
    case undefined: {
      const before = endedBefore(input, container);
      return before === undefined
        ? start('it has never been created')
        : leave(`container ${name} stays ended: ${before}`);
    }
    case 'created':
      return start('it was created but never started');
    case 'unknown':
      return kill(container, newest, {
        message: 'Container is in "unknown" state, try killing it before restart',
        reason: 'Unknown',
        because: 'the runtime does not know its state',
        // It may have run, and Never means at most once. Upstream restarts it.
        restarts: restartsAfterKill(pod, container),
      });
    case 'exited': {
      const { restart, because } = restartVerdict(pod, container, newest.exitCode);
      return restart
        ? start(`it exited with code ${newest.exitCode} and ${because}`)
        : leave(`container ${name} stays ended: it exited with code ${newest.exitCode} and ${because}`);
    }
  }
};

const decideRunning = (
  { pod, probeResults, actuated }: PodActionsInput,
  container: Container,
  newest: RuntimeContainerStatus,
): Decision => {
  const { name } = container;
  const restarts = restartsAfterKill(pod, container);
  const suffix = restarts ? ', will be restarted' : '';
  if (!isSameHash(newest.hash, containerHash(container))) {
    return kill(container, newest, {
      message: `Container ${name} definition changed, will be restarted`,
      reason: 'DefinitionChanged',
      because: 'its image or name changed in the spec',
      restarts: true,
    });
  }
  if (probeResults?.liveness(newest.id) === 'failure') {
    return kill(container, newest, {
      message: `Container ${name} failed liveness probe${suffix}`,
      reason: 'LivenessProbe',
      because: 'its liveness probe failed',
      restarts,
    });
  }
  if (probeResults?.startup(newest.id) === 'failure') {
    return kill(container, newest, {
      message: `Container ${name} failed startup probe${suffix}`,
      reason: 'StartupProbe',
      because: 'its startup probe failed',
      restarts,
    });
  }
  if (actuated && instanceResize(pod, container, newest, actuated)?.kind === 'restart') {
    return kill(container, newest, {
      message: resizeMessage(name),
      reason: 'Resize',
      because: RESIZE_RESTART,
      restarts: true,
    });
  }
  return { keep: true, reasons: [{ action: 'keep', container: name, because: `container ${name} is running` }] };
};

const kill = (
  container: Container,
  { id }: RuntimeContainerStatus,
  {
    message,
    reason,
    because,
    restarts,
  }: {
    readonly message: string;
    readonly reason: KillReason;
    readonly because: string;
    readonly restarts: boolean;
  },
): Decision => ({
  start: restarts,
  kill: { id, name: container.name, container, message, reason },
  reasons: [
    { action: 'kill', container: container.name, because: `container ${container.name} is killed: ${because}` },
    restarts
      ? {
          action: 'start',
          container: container.name,
          because: `container ${container.name} is started again after its kill`,
        }
      : {
          action: 'keep',
          container: container.name,
          because: `container ${container.name} is not started again: restartPolicy Never leaves it`,
        },
  ],
});

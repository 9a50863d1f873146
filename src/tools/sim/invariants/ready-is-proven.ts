import type { ContainerStatus, Pod } from '../../../model/pod/pod.js';
import { containerOf, roleOf } from './pod-spec.js';
import type { Finding, Invariant } from './monitor.js';
import { type InstanceTruth, type PodTruth, seenSinceOf } from './pod-truth.js';
import type { WorldEvent } from '../world/world-event.js';
import type { WorldTruth } from './world-truth.js';

type Asked = Extract<WorldEvent, { readonly kind: 'asked' }>;

/** The successes in a row of one instance's probes of one kind. */
interface Row {
  now: number;
  longest: number;
}

export const readyIsProven: Invariant = {
  name: 'ready-is-proven',
  rule: 'A container that shows as ready runs, its probes have reached their success thresholds on this instance, and its postStart command has ended well on it.',
  source: 'pkg/kubelet/prober/prober_manager.go UpdatePodStatus, pkg/kubelet/prober/worker.go',
  watch: (truth, { eventedPleg }) => {
    const rows = new Map<string, Row>();
    const hooked = new Set<string>();
    return {
      on: (event) => {
        if (event.kind === 'asked' && event.which) {
          const key = `${probedBy(truth, event)} ${event.which}`;
          const row = rows.get(key) ?? { now: 0, longest: 0 };
          row.now = event.ok ? row.now + 1 : 0;
          row.longest = Math.max(row.longest, row.now);
          rows.set(key, row);
          return undefined;
        }
        if (event.kind === 'asked' && event.how === 'exec' && event.ok) hooked.add(event.containerId);
        if (event.kind !== 'status' || !event.pod) return undefined;
        const pod = truth.pods.get(event.uid);
        if (!pod) return undefined;
        // A run reads a state that is newer than the end of the run before.
        const seenSince = seenSinceOf(truth, pod, { at: event.at, eventedPleg });
        return unproven(truth, pod, event.pod, { rows, hooked, seenSince });
      },
    };
  },
};

/**
 * The instance that a probe is about. On the network of the node two pods may declare one port, as a static pod does that
 * comes back without admission: whichever answers, the agent has asked at the address of the one it meant.
 */
const probedBy = (truth: WorldTruth, { uid, containerId, meantFor }: Asked): string => {
  const meant = meantFor === undefined ? undefined : truth.instances.get(meantFor);
  const sharesAddress = meant && isOnNodeNetwork(truth, meant.uid) && isOnNodeNetwork(truth, uid);
  return sharesAddress ? meant.containerId : containerId;
};

const isOnNodeNetwork = (truth: WorldTruth, uid: string): boolean =>
  truth.pods.get(uid)?.manifest?.spec.hostNetwork === true;

interface Facts {
  readonly rows: ReadonlyMap<string, Row>;
  /** The instances on which a command of a hook has ended well. */
  readonly hooked: ReadonlySet<string>;
  /** The agent knows every earlier event. */
  readonly seenSince: number;
}

const unproven = (truth: WorldTruth, pod: PodTruth, shown: Pod, facts: Facts): readonly Finding[] | undefined => {
  const statuses = [...(shown.status?.containerStatuses ?? []), ...(shown.status?.initContainerStatuses ?? [])];
  const findings: Finding[] = [];
  for (const status of statuses) {
    const role = roleOf(shown, status.name);
    if (!status.ready || role === 'init') continue;
    const message = problemOf(truth, shown, status, facts);
    if (message !== undefined) findings.push({ uid: pod.uid, container: status.name, message });
  }
  const isReady = shown.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  const unready = (shown.status?.containerStatuses ?? []).filter(({ ready }) => !ready);
  if (isReady && unready.length > 0) {
    const names = unready.map(({ name }) => name).join(', ');
    findings.push({ uid: pod.uid, message: `the pod shows as ready, but ${names} does not (expected all of them)` });
  }
  return findings.length > 0 ? findings : undefined;
};

const problemOf = (
  truth: WorldTruth,
  shown: Pod,
  { name, containerID = '', state }: ContainerStatus,
  { rows, hooked, seenSince }: Facts,
): string | undefined => {
  const id = containerID.replace(/^[^:]*:\/\//, '');
  if (!state?.running) return 'shows as ready, but does not show as running';
  const instance = truth.instances.get(id);
  if (!instance) return `shows as ready as ${JSON.stringify(containerID)}, which has never existed`;
  if (instance.exitedAt !== undefined && instance.exitedAt < seenSince) {
    return `shows as ready, but this instance had ended before the run before the last one did`;
  }
  const container = containerOf(shown, name);
  const heardOfApi = truth.pods
    .get(shown.metadata.uid)
    ?.wanted?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (container?.readinessProbe && !heardOfApi) {
    const needed = container.readinessProbe.successThreshold ?? 1;
    // A status is constant during a run. A client that asks for an instance which the run has replaced is answered by a
    // later one.
    const asked = instance.exitedAt === undefined ? [id] : [id, ...successorsOf(truth, instance)];
    const had = Math.max(...asked.map((one) => rows.get(`${one} readiness`)?.longest ?? 0));
    if (had < needed)
      return `shows as ready after ${had} successes of its readiness probe in a row (expected ${needed})`;
  }
  if (container?.startupProbe && (rows.get(`${id} startup`)?.longest ?? 0) < 1) {
    return 'shows as ready, but its startup probe has never succeeded on this instance';
  }
  if (container?.lifecycle?.postStart?.exec && !hooked.has(id)) {
    return 'shows as ready, but its postStart command has never ended well on this instance';
  }
  return undefined;
};

const successorsOf = (truth: WorldTruth, { uid, container, startedAt = 0 }: InstanceTruth): readonly string[] =>
  (truth.pods.get(uid)?.instances ?? [])
    .filter((one) => one.container === container && (one.startedAt ?? 0) > startedAt)
    .map(({ containerId }) => containerId);

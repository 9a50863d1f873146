import { type ContainerStatus, isSidecar, isStaticPod, isTerminalPhase, type Pod } from '../../model/pod/pod.js';

/** One line of the table of pods, as text. */
export interface PodRow {
  readonly namespace: string;
  readonly name: string;
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly age: string;
  readonly ip: string;
  readonly node: string;
}

/** A pod as kubectl prints it. `now` is Unix milliseconds. Source: printPod in pkg/printers/internalversion/printers.go. */
export const podRow = (pod: Pod, now: number): PodRow => {
  const { metadata, spec, status } = pod;
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const init = status?.initContainerStatuses ?? [];
  const regular = status?.containerStatuses ?? [];
  const readyCount =
    regular.filter(({ ready, state }) => ready && state?.running).length +
    init.filter(({ name, ready }) => sidecars.has(name) && ready).length;
  // A manifest may be a copy of a pod of a cluster, with its creation time.
  const createdAt = isStaticPod(pod) ? status?.startTime : (metadata.creationTimestamp ?? status?.startTime);
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    ready: `${readyCount}/${spec.containers.length + sidecars.size}`,
    status: statusText(pod, sidecars),
    restarts: restartText(
      initText(pod, sidecars) === undefined ? [...regular, ...init.filter(({ name }) => sidecars.has(name))] : init,
      now,
    ),
    age: createdAt === undefined ? '<unknown>' : shortAge(now - Date.parse(createdAt)),
    ip: status?.podIP ?? '<none>',
    node: spec.nodeName ?? '<none>',
  };
};

const statusText = (pod: Pod, sidecars: ReadonlySet<string>): string => {
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp !== undefined && !isTerminalPhase(status?.phase)) return 'Terminating';
  const initializing = initText(pod, sidecars);
  if (initializing !== undefined) return initializing;
  const containers = status?.containerStatuses ?? [];
  // The first container in the order of the spec wins.
  const reason =
    containers.map(reasonOf).find((text) => text !== undefined) ?? status?.reason ?? status?.phase ?? 'Unknown';
  const someRuns = containers.some(({ ready, state }) => ready && state?.running);
  if (reason !== 'Completed' || !someRuns) return reason;
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ? 'Running' : 'NotReady';
};

const reasonOf = ({ state }: ContainerStatus): string | undefined => {
  if (state?.waiting?.reason) return state.waiting.reason;
  return state?.terminated ? endReason(state.terminated) : undefined;
};

const endReason = (end: { readonly reason?: string; readonly signal?: number; readonly exitCode: number }): string => {
  if (end.reason) return end.reason;
  return end.signal ? `Signal:${end.signal}` : `ExitCode:${end.exitCode}`;
};

/** The progress of the init containers, until they have completed. */
const initText = ({ spec, status }: Pod, sidecars: ReadonlySet<string>): string | undefined => {
  const statuses = status?.initContainerStatuses ?? [];
  const index = statuses.findIndex(
    ({ name, state, started }) => state?.terminated?.exitCode !== 0 && !(sidecars.has(name) && started),
  );
  const current = statuses[index];
  if (!current) return undefined;
  const { terminated, waiting } = current.state ?? {};
  if (terminated) return `Init:${endReason(terminated)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${index}/${spec.initContainers?.length ?? 0}`;
};

const restartText = (statuses: readonly ContainerStatus[], now: number): string => {
  const count = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const ends = statuses.flatMap(({ lastState }) => {
    const finishedAt = lastState?.terminated?.finishedAt;
    return finishedAt === undefined ? [] : [Date.parse(finishedAt)];
  });
  return count === 0 || ends.length === 0 ? String(count) : `${count} (${shortAge(now - Math.max(...ends))} ago)`;
};

/** Coarser the older: `45s`, `5m30s`, `45m`, `3h20m`, `2d`. Source: HumanDuration in apimachinery/pkg/util/duration. */
export const shortAge = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const two = (large: number, largeUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return two(Math.floor(days / 365), 'y', days % 365, 'd');
};

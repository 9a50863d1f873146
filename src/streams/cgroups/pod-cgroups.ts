import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  forkJoin,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  tap,
  throwError,
} from 'rxjs';
import type { CgroupName } from '../../model/cgroups/cgroup-name.js';
import type { CgroupReading, CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { CgroupSettings } from '../../model/cgroups/cgroup-settings.js';
import { keptForPods, type MemoryQos } from '../../model/cgroups/memory-qos.js';
import { tierResources } from '../../model/cgroups/node-cgroup-resources.js';
import {
  type FoundPodCgroup,
  kubepodsCgroup,
  podCgroup,
  podCgroupsAmong,
  podParents,
  QOS_TIERS,
  tierCgroup,
} from '../../model/cgroups/pod-cgroup-name.js';
import { type PodCgroupFacts, podCgroupResources } from '../../model/cgroups/pod-cgroup-resources.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Pod } from '../../model/pod/pod.js';
import type { Cgroups } from '../ports/cgroups.js';
import type { Logger } from '../ports/logger.js';
import { destroyCgroup } from './destroy-cgroup.js';

/** The operations of a worker on the cgroup of its pod. */
export interface PodCgroups {
  /** The path that the runtime receives as the parent; undefined if pods have no cgroups. Throws on a UID that cannot be part of a name. */
  readonly parentOf: (pod: Pod) => string | undefined;
  /** The resources of a new cgroup; undefined if pods have no cgroups. */
  readonly resourcesOf: (pod: Pod) => CgroupResources | undefined;
  /** Emits whether the cgroup exists in all hierarchies. */
  readonly exists: (pod: Pod) => Observable<boolean>;
  /** Updates the QoS classes and creates the cgroup, unless it exists. */
  readonly ensure: (pod: Pod) => Observable<never>;
  /** Emits once what the cgroup has; undefined if it does not exist, or if pods have none. */
  readonly read: (pod: Pod) => Observable<CgroupReading | undefined>;
  /** Changes these settings of the cgroup, and leaves the others as they are. */
  readonly set: (pod: Pod, resources: CgroupResources) => Observable<never>;
  /** Kills the processes in it and removes it. A missing cgroup is no error. */
  readonly destroy: (pod: Pod) => Observable<never>;
  /** Updates the weights of the QoS classes, and the memory that is kept for them. Errors: none; failures are logged. */
  readonly weigh: () => Observable<never>;
}

export interface PodCgroupsOptions {
  readonly cgroups: Cgroups;
  readonly settings: Pick<CgroupSettings, 'root' | 'podPidsLimit'>;
  readonly node: PodCgroupFacts;
  /** The wanted pods that have not ended; the weight of a class depends on them. */
  readonly activePods: () => readonly Pod[];
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** Does nothing: pods stay in the cgroups of the runtime. */
export const noPodCgroups: PodCgroups = {
  parentOf: () => undefined,
  resourcesOf: () => undefined,
  exists: () => of(true),
  ensure: () => EMPTY,
  read: () => of(undefined),
  set: () => EMPTY,
  destroy: () => EMPTY,
  weigh: () => EMPTY,
};

/** Source: pkg/kubelet/cm/pod_container_manager_linux.go, qos_container_manager_linux.go. */
export const podCgroups = (options: PodCgroupsOptions): PodCgroups => {
  const { cgroups, settings, node, log, scheduler } = options;
  const { root, podPidsLimit } = settings;
  const nameOf = (pod: Pod) => podCgroup(root, pod);
  /** No name if the UID cannot be part of one: such a pod has no cgroup. */
  const listedNames = (pod: Pod): readonly CgroupName[] => {
    try {
      return [nameOf(pod)];
    } catch {
      return [];
    }
  };
  const exists = (pod: Pod) => defer(() => cgroups.missing(nameOf(pod))).pipe(map((paths) => paths.length === 0));
  const resourcesOf = (pod: Pod) => podCgroupResources(pod, { ...node, podPidsLimit });
  const create = (pod: Pod): Observable<never> =>
    defer(() => {
      const name = nameOf(pod);
      return createCgroup(cgroups, name, resourcesOf(pod), log).pipe(
        catchError((error: unknown) =>
          throwError(
            () =>
              new Error(`failed to create container for [${name.join(' ')}] : ${errorText(error)}`, { cause: error }),
          ),
        ),
      );
    });
  return {
    parentOf: (pod) => cgroups.pathOf(nameOf(pod)),
    resourcesOf,
    exists,
    ensure: (pod) =>
      exists(pod).pipe(
        filter((isThere) => !isThere),
        concatMap(() => concat(weighTiers(options), create(pod))),
      ),
    read: (pod) => defer(() => cgroups.read(nameOf(pod))),
    set: (pod, resources) => defer(() => cgroups.update(nameOf(pod), resources)),
    destroy: (pod) => {
      const [name] = listedNames(pod);
      return name ? destroyCgroup(cgroups, name, scheduler) : EMPTY;
    },
    weigh: () => weighTiers(options),
  };
};

/** Creates a cgroup and logs the settings that the kernel refused. Errors: those of the creation. */
export const createCgroup = (
  cgroups: Pick<Cgroups, 'create'>,
  name: CgroupName,
  resources: CgroupResources,
  log: Logger,
): Observable<never> =>
  cgroups.create(name, resources).pipe(
    tap((problem) => log.warn({ cgroup: name.join('/'), problem }, 'a setting of a new cgroup was refused')),
    ignoreElements(),
  );

/**
 * Writes the weights of the QoS classes and the memory that is kept for them, and again if the pods have changed meanwhile: of several
 * writes at the same time, the last one leaves the current values.
 */
export const weighTiers = (
  options: Pick<PodCgroupsOptions, 'cgroups' | 'settings' | 'node' | 'activePods' | 'log'>,
): Observable<never> =>
  defer(() => {
    const { cgroups, settings, node, activePods, log } = options;
    const wanted = () => classResources(activePods(), settings.root, cgroups.hugePageSizes, node.memoryQos);
    const before = wanted();
    const isDue = () => wanted().some((one, index) => !hasSameShare(one.resources, before[index]?.resources));
    const updates = before.map(({ name, resources }) =>
      cgroups.update(name, resources).pipe(
        catchError((error: unknown) => {
          log.warn({ cgroup: name.join('/'), error: errorText(error) }, 'cannot set the share of a QoS class');
          return EMPTY;
        }),
      ),
    );
    return concat(
      ...updates,
      defer(() => (isDue() ? weighTiers(options) : EMPTY)),
    );
  });

/** The parts of the pods as a whole and of the QoS classes that depend on the pods. */
const classResources = (
  active: readonly Pod[],
  root: CgroupName,
  hugePageSizes: readonly bigint[],
  memoryQos: MemoryQos | undefined,
): readonly { readonly name: CgroupName; readonly resources: CgroupResources }[] => {
  const kept = memoryQos?.keepsRequests ? keptForPods(active) : undefined;
  return [
    // More for all of them first: a cgroup passes on only what it has.
    ...(kept ? [{ name: kubepodsCgroup(root), resources: kept.all }] : []),
    ...QOS_TIERS.map((tier) => ({
      name: tierCgroup(root, tier),
      resources: { ...tierResources(tier, active, hugePageSizes), ...(tier === 'burstable' && kept?.burstable) },
    })),
  ];
};

const hasSameShare = (one: CgroupResources, other: CgroupResources = {}): boolean =>
  one.cpuShares === other.cpuShares && one.memoryMin === other.memoryMin && one.memoryLow === other.memoryLow;

/** All cgroups of pods, each once. */
export const listPodCgroups = (
  cgroups: Pick<Cgroups, 'children'>,
  root: CgroupName,
): Observable<readonly FoundPodCgroup[]> =>
  forkJoin(podParents(root).map((parent) => cgroups.children(parent))).pipe(
    map((names) => podCgroupsAmong(names.flat())),
  );

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
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { CgroupSettings } from '../../model/cgroups/cgroup-settings.js';
import { tierResources } from '../../model/cgroups/node-cgroup-resources.js';
import {
  type FoundPodCgroup,
  podCgroup,
  podCgroupsAmong,
  podParents,
  QOS_TIERS,
  tierCgroup,
} from '../../model/cgroups/pod-cgroup-name.js';
import { podCgroupResources } from '../../model/cgroups/pod-cgroup-resources.js';
import { errorText } from '../../model/cri-error.js';
import type { NodeFacts } from '../../model/node-facts.js';
import type { Pod } from '../../model/pod.js';
import type { Cgroups, Logger } from '../ports.js';
import { destroyCgroup } from './destroy-cgroup.js';

/** What a worker does about the cgroup of its pod. */
export interface PodCgroups {
  /** As the runtime is told of it; undefined where pods have no cgroups. Throws on a UID that cannot be part of a name. */
  readonly parentOf: (pod: Pod) => string | undefined;
  /** All of it is there. */
  readonly exists: (pod: Pod) => Observable<boolean>;
  /** Makes it unless it is there, after the weights of the QoS classes were brought up to date. */
  readonly ensure: (pod: Pod) => Observable<never>;
  /** Kills whatever is still in it and removes it; one that is not there is fine. */
  readonly destroy: (pod: Pod) => Observable<never>;
  /** Brings the weights of the QoS classes up to date. Errors: none; what fails is said. */
  readonly weigh: () => Observable<never>;
}

export interface PodCgroupsOptions {
  readonly cgroups: Cgroups;
  readonly settings: Pick<CgroupSettings, 'root' | 'podPidsLimit'>;
  readonly node: Pick<NodeFacts, 'cpuCfsQuota' | 'cpuCfsQuotaPeriodMicros'>;
  /** Pods that are wanted and have not ended, for the weight of their class. */
  readonly activePods: () => readonly Pod[];
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** Pods stay where the runtime puts them. */
export const noPodCgroups: PodCgroups = {
  parentOf: () => undefined,
  exists: () => of(true),
  ensure: () => EMPTY,
  destroy: () => EMPTY,
  weigh: () => EMPTY,
};

/** Source: pkg/kubelet/cm/pod_container_manager_linux.go, qos_container_manager_linux.go. */
export const podCgroups = (options: PodCgroupsOptions): PodCgroups => {
  const { cgroups, settings, node, log, scheduler } = options;
  const { root, podPidsLimit } = settings;
  const nameOf = (pod: Pod) => podCgroup(root, pod);
  /** A pod that could not get a cgroup for its UID has none to lose. */
  const listedNames = (pod: Pod): readonly CgroupName[] => {
    try {
      return [nameOf(pod)];
    } catch {
      return [];
    }
  };
  const exists = (pod: Pod) => defer(() => cgroups.missing(nameOf(pod))).pipe(map((paths) => paths.length === 0));
  const create = (pod: Pod): Observable<never> =>
    defer(() => {
      const name = nameOf(pod);
      return createCgroup(cgroups, name, podCgroupResources(pod, { ...node, podPidsLimit }), log).pipe(
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
    exists,
    ensure: (pod) =>
      exists(pod).pipe(
        filter((isThere) => !isThere),
        concatMap(() => concat(weighTiers(options), create(pod))),
      ),
    destroy: (pod) => {
      const [name] = listedNames(pod);
      return name ? destroyCgroup(cgroups, name, scheduler) : EMPTY;
    },
    weigh: () => weighTiers(options),
  };
};

/** Makes a cgroup and says which of its settings the kernel refused. Errors: it could not be made. */
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
 * Writes the weights of the QoS classes, and again if the pods have changed meanwhile: of several that write at the same time
 * the last one leaves what is right.
 */
export const weighTiers = (
  options: Pick<PodCgroupsOptions, 'cgroups' | 'settings' | 'activePods' | 'log'>,
): Observable<never> =>
  defer(() => {
    const { cgroups, settings, activePods, log } = options;
    const weights = () => QOS_TIERS.map((tier) => tierResources(tier, activePods(), cgroups.hugePageSizes));
    const before = weights();
    const isDue = () => weights().some(({ cpuShares }, index) => cpuShares !== before[index]?.cpuShares);
    const updates = QOS_TIERS.map((tier, index) =>
      cgroups.update(tierCgroup(settings.root, tier), before[index] ?? {}).pipe(
        catchError((error: unknown) => {
          log.warn({ tier, error: errorText(error) }, 'a QoS class could not be weighed');
          return EMPTY;
        }),
      ),
    );
    return concat(
      ...updates,
      defer(() => (isDue() ? weighTiers(options) : EMPTY)),
    );
  });

/** Every cgroup that was made for a pod, once. */
export const listPodCgroups = (
  cgroups: Pick<Cgroups, 'children'>,
  root: CgroupName,
): Observable<readonly FoundPodCgroup[]> =>
  forkJoin(podParents(root).map((parent) => cgroups.children(parent))).pipe(
    map((names) => podCgroupsAmong(names.flat())),
  );

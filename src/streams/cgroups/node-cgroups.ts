import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  ignoreElements,
  merge,
  type Observable,
  retry,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { CgroupName } from '../../model/cgroups/cgroup-name.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { CgroupSettings } from '../../model/cgroups/cgroup-settings.js';
import {
  kubepodsResources,
  reservationProblem,
  reservedResources,
  tierResources,
} from '../../model/cgroups/node-cgroup-resources.js';
import { kubepodsCgroup, QOS_TIERS, tierCgroup } from '../../model/cgroups/pod-cgroup-name.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { ResourceAmounts } from '../../model/resources/pod-resources.js';
import type { Cgroups } from '../ports/cgroups.js';
import type { RecordEvent } from '../ports/record-event.js';
import { createCgroup, type PodCgroupsOptions, weighTiers } from './pod-cgroups.js';

/** The cgroups of this machine, and their settings. */
export interface NodeCgroups {
  readonly cgroups: Cgroups;
  readonly settings: CgroupSettings;
  /** The capacity of the machine: `cpu`, `memory`, `pid` and `hugepages-<size>`. */
  readonly capacity: ResourceAmounts;
}

export interface NodeCgroupsOptions
  extends NodeCgroups, Pick<PodCgroupsOptions, 'activePods' | 'log' | 'node' | 'scheduler'> {
  readonly recordEvent: RecordEvent;
}

/** The node cannot be set up as configured; the message names the remedy. */
class NodeCgroupsError extends Error {
  override readonly name = 'NodeCgroupsError';
}

/** Source: pkg/kubelet/cm/node_container_manager_linux.go, qos_container_manager_linux.go. */
export const ENFORCE_AGAIN_MS = 60_000;
export const WEIGH_MS = 60_000;

/**
 * Creates kubepods and a cgroup for each QoS class, and limits the reserved parts of the system to their reservations. Completes
 * when all are created.
 *
 * Errors: `NodeCgroupsError`.
 * Source: pkg/kubelet/cm/node_container_manager_linux.go createNodeAllocatableCgroups, container_manager_linux.go
 */
export const prepareNodeCgroups = (options: NodeCgroupsOptions): Observable<never> =>
  defer(() => {
    const { cgroups, settings, capacity, recordEvent } = options;
    const problem = reservationProblem(capacity, settings);
    if (problem !== undefined) return throwError(() => new NodeCgroupsError(problem));
    if (cgroups.version === 1) {
      const message =
        'cgroup v1 detected. Kubernetes has given it up, and this agent will one day. Please migrate to cgroup v2';
      recordEvent({ type: 'Warning', reason: 'CgroupV1', message, causes: [] });
    }
    return concat(
      checkRoot(options),
      concat(makeKubepods(options), makeTiers(options)).pipe(
        catchError((error: unknown) =>
          throwError(
            () => new NodeCgroupsError(`${CANNOT_MAKE}: ${errorText(error)}. ${DO_WITHOUT}`, { cause: error }),
          ),
        ),
      ),
      enforceReserved(options),
    );
  });

const CANNOT_MAKE = 'the cgroups of pods cannot be made';
const DO_WITHOUT =
  'Run the agent as root, or set cgroupsPerQOS: false and enforceNodeAllocatable: [] to do without them';

/**
 * Sets the limits of kubepods, once a minute until that works, and updates the weights of the QoS classes every minute.
 *
 * Errors: none. Ends: never.
 */
export const tendNodeCgroups = (options: NodeCgroupsOptions): Observable<never> => {
  const weigh$ = timer(0, WEIGH_MS, options.scheduler).pipe(exhaustMap(() => weighTiers(options)));
  return merge(enforceKubepods(options), weigh$);
};

/** Fails if the root does not exist. The administrator creates it, so a missing one is most likely a typing error. */
const checkRoot = ({ cgroups, settings: { root } }: NodeCgroupsOptions): Observable<never> =>
  cgroups.missing(root).pipe(
    concatMap((paths) => {
      if (paths.length === 0) return EMPTY;
      const problem = `cgroup ${quoted(root)} has some missing paths: ${paths.join(', ')}`;
      return throwError(() => new NodeCgroupsError(`invalid configuration: cgroupRoot: ${problem}`));
    }),
  );

/** Creates kubepods. Only `enforceKubepods` changes an existing one: pods in it may use more than the new limits. */
const makeKubepods = (options: NodeCgroupsOptions): Observable<never> => {
  const name = kubepodsCgroup(options.settings.root);
  return createUnlessThere(options, name, resourcesOfKubepods(options), () => EMPTY);
};

const makeTiers = (options: NodeCgroupsOptions): Observable<never> =>
  concat(
    ...QOS_TIERS.map((tier) => {
      const name = tierCgroup(options.settings.root, tier);
      const resources = tierResources(tier, [], options.cgroups.hugePageSizes);
      // Pods of an earlier run may be in it: the weight is set with the first update of all weights.
      const { hugePages } = resources;
      const { memoryLow } = nothingKept(options);
      const reset = { hugePages, ...(tier === 'burstable' && memoryLow !== undefined && { memoryLow }) };
      return createUnlessThere(options, name, resources, () => options.cgroups.update(name, reset));
    }),
  );

/** An agent with other settings may have kept memory for pods. */
const nothingKept = ({ node: { memoryQos } }: NodeCgroupsOptions): Pick<CgroupResources, 'memoryMin' | 'memoryLow'> =>
  memoryQos && !memoryQos.keepsRequests ? { memoryMin: 0n, memoryLow: 0n } : {};

const createUnlessThere = (
  { cgroups, log }: NodeCgroupsOptions,
  name: CgroupName,
  resources: CgroupResources,
  otherwise: () => Observable<never>,
): Observable<never> =>
  cgroups
    .missing(name)
    .pipe(concatMap((paths) => (paths.length > 0 ? createCgroup(cgroups, name, resources, log) : otherwise())));

/** Sets the limits of kubepods, again after a minute if that fails: pods may use more than the new limits for a while. */
const enforceKubepods = (options: NodeCgroupsOptions): Observable<never> => {
  const { cgroups, settings, recordEvent, scheduler } = options;
  const name = kubepodsCgroup(settings.root);
  return defer(() => cgroups.update(name, resourcesOfKubepods(options))).pipe(
    tap({
      complete: () =>
        recordEvent({
          type: 'Normal',
          reason: 'NodeAllocatableEnforced',
          message: 'Updated Node Allocatable limit across pods',
          causes: [],
        }),
      error: (error: unknown) =>
        recordEvent({
          type: 'Warning',
          reason: 'FailedNodeAllocatableEnforcement',
          message: `Failed to update Node Allocatable Limits ${quoted(name)}: ${errorText(error)}`,
          causes: [],
        }),
    }),
    retry({ delay: () => timer(ENFORCE_AGAIN_MS, scheduler) }),
  );
};

const resourcesOfKubepods = (options: NodeCgroupsOptions): CgroupResources => {
  const { allCpus } = options.cgroups;
  return {
    ...kubepodsResources(options.capacity, options.settings),
    ...(allCpus !== undefined && { cpus: allCpus }),
    ...nothingKept(options),
  };
};

/** Limits the parts of the system outside of pods. The administrator creates their cgroups; a missing one is an error. */
const enforceReserved = (options: NodeCgroupsOptions): Observable<never> => {
  const { settings, node } = options;
  const keepsMemory = node.memoryQos?.keepsRequests === true;
  const { enforced, systemReserved, systemReservedCgroup, kubeReserved, kubeReservedCgroup } = settings;
  return concat(
    ...(
      [
        ['system', systemReserved, systemReservedCgroup],
        ['kube', kubeReserved, kubeReservedCgroup],
      ] as const
    ).flatMap(([who, reserved, path]) => [
      ...(enforced.includes(`${who}-reserved`)
        ? [enforceOne(options, who, path, reservedResources(reserved, { compressibleOnly: false, keepsMemory }))]
        : []),
      ...(enforced.includes(`${who}-reserved-compressible`)
        ? [enforceOne(options, who, path, reservedResources(reserved, { compressibleOnly: true }))]
        : []),
    ]),
  );
};

const enforceOne = (
  { cgroups, recordEvent }: NodeCgroupsOptions,
  who: 'system' | 'kube',
  path: string,
  resources: CgroupResources,
): Observable<never> =>
  defer(() => {
    const name = cgroups.nameOf(path);
    return cgroups.missing(name).pipe(
      concatMap((paths) => {
        if (paths.length === 0) return cgroups.update(name, resources);
        return throwError(() => new Error(`cgroup ${quoted(name)} has some missing paths: ${paths.join(', ')}`));
      }),
    );
  }).pipe(
    tap({
      complete: () =>
        recordEvent({
          type: 'Normal',
          reason: 'NodeAllocatableEnforced',
          message: `Updated limits on ${who} reserved cgroup ${path}`,
          causes: [],
        }),
    }),
    ignoreElements(),
    catchError((error: unknown) => {
      const title = who === 'system' ? 'System' : 'Kube';
      const message = `Failed to enforce ${title} Reserved Cgroup Limits on ${JSON.stringify(path)}: ${errorText(error)}`;
      recordEvent({ type: 'Warning', reason: 'FailedNodeAllocatableEnforcement', message, causes: [] });
      return throwError(() => new NodeCgroupsError(message, { cause: error }));
    }),
  );

/** The name as the kubelet writes it in messages. */
const quoted = (name: CgroupName): string => `[${name.map((part) => JSON.stringify(part)).join(' ')}]`;

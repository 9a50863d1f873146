import type { Container, ContainerStatus, Pod } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';
import { amountsOfSpec, isSameInRuntime, runtimeAmounts, VISIBLE } from './pod-amounts.js';
import { isTerminal } from './pod-spec.js';
import { type InstanceTruth, isLive, liveInstances, type PodTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';

/** The quiet time after which every container has what its pod asks for, or the resize waits. Milliseconds. */
const SETTLED_MS = 190_000;

export const resizesAreShown: Invariant = {
  name: 'resizes-are-shown',
  rule: 'A status without a resize in progress shows of every container what it has in the runtime. Soon after the world has become quiet no resize is in progress, and every container has what its pod asks for, unless that waits.',
  source: 'pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses, docs/resize.md',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'status' || !event.pod || conditionOf(event.pod, 'PodResizeInProgress')) return undefined;
      const pod = truth.pods.get(event.uid);
      return pod && pod.versions.size > 1 ? notAsShown(truth, pod, event.pod) : undefined;
    },
    end: ({ at, quietSince }) =>
      [...truth.pods.values()].flatMap((pod): readonly Finding[] => {
        const { uid, wanted, shown, specSince, versions } = pod;
        if (!wanted || versions.size < 2 || wanted.metadata.deletionTimestamp !== undefined) return [];
        if (at - Math.max(quietSince, specSince) < SETTLED_MS) return [];
        if (!shown || isTerminal(shown.pod.status?.phase) || pod.rejectedAt !== undefined) return [];
        if (pod.killRequestedAt !== undefined || pod.terminatingSince !== undefined) return [];
        // Nothing of it runs that could be given anything.
        if (!pod.instances.some(isLive)) return [];
        const progress = conditionOf(shown.pod, 'PodResizeInProgress');
        if (progress) return [{ uid, message: `is still being resized: ${progress.message ?? ''}` }];
        if (conditionOf(shown.pod, 'PodResizePending')) return [];
        const asked = amountsOfSpec(wanted);
        return containersOf(wanted).flatMap(({ name }) =>
          liveInstances(pod, name).flatMap(({ resources }): readonly Finding[] => {
            const expected = runtimeAmounts(asked, name);
            const wrong = resources && RESOURCES.find((resource) => !isSameInRuntime(resources, expected, resource));
            if (wrong === undefined) return [];
            return [
              { uid, container: name, message: `has not the ${wrong} that its pod asks for: ${text(resources)}` },
            ];
          }),
        );
      }),
  }),
};

const RESOURCES = Object.keys(VISIBLE) as readonly (keyof typeof VISIBLE)[];
const text = (value: unknown): string => JSON.stringify(value);

const conditionOf = ({ status }: Pod, wanted: string) => status?.conditions?.find(({ type }) => type === wanted);

/** Regular init containers are never resized. */
const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ...spec.containers,
];

/** The containers of which the status shows something that they have not had since the last run of the worker began. */
const notAsShown = (truth: WorldTruth, pod: PodTruth, { status = {} }: Pod): readonly Finding[] => {
  const since = pod.lastPass?.since ?? truth.lifeSince;
  return [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].flatMap(
    (shown): readonly Finding[] => {
      const instance = truth.instances.get(shown.containerID?.replace(/^[^:]*:\/\//, '') ?? '');
      if (!shown.state?.running || !shown.resources || !instance || !isLive(instance)) return [];
      const wrong = RESOURCES.find((resource) => !isAsShown(instance, shown, resource, since));
      if (wrong === undefined) return [];
      const message = `shows ${text(shown.resources)}, but has ${text(instance.resources)}`;
      return [{ uid: pod.uid, container: instance.container, message }];
    },
  );
};

/** A limit of the pod as a whole is none of the container. */
const isAsShown = (
  { container, resources, pastResources = [] }: InstanceTruth,
  { resources: { requests, limits } = {} }: ContainerStatus,
  resource: keyof typeof VISIBLE,
  since: number,
): boolean => {
  if (limits?.[resource] === undefined && resource === 'memory') return true;
  const shown = runtimeAmounts({ containers: { [container]: { requests, limits } } }, container);
  const had = [
    ...(resources ? [resources] : []),
    ...pastResources.filter(({ until }) => until >= since).map((past) => past.resources),
  ];
  return had.some((one) =>
    limits?.[resource] === undefined ? one.cpuShares === shown.cpuShares : isSameInRuntime(one, shown, resource),
  );
};

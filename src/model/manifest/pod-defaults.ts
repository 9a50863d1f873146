import type { PodSpec } from '../pod/pod.js';
import {
  containersTogether,
  isPodLevelResource,
  type ResourceList,
  roundedToMillis,
} from '../resources/resource-list.js';
import { withContainerDefaults } from './container-defaults.js';
import { inMillis } from './resource-defaults.js';
import type { PodManifest } from './pod-manifest.js';
import { withVolumeDefaults } from './volume-defaults.js';

/**
 * Returns the pod with the defaults of the v1 API. A second call changes nothing.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Pod, SetDefaults_PodSpec.
 */
export const withPodDefaults = (pod: PodManifest): PodManifest => {
  const { spec } = pod;
  const hostNetwork = spec.hostNetwork === true;
  const serviceAccountName = spec.serviceAccountName || spec.serviceAccount;
  const defaulted: PodSpec = {
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    // An empty text counts as absent.
    restartPolicy: spec.restartPolicy || 'Always',
    dnsPolicy: spec.dnsPolicy || 'ClusterFirst',
    schedulerName: spec.schedulerName || 'default-scheduler',
    // A negative number becomes the minimum.
    terminationGracePeriodSeconds: withoutNegative(spec.terminationGracePeriodSeconds ?? 30),
    ...(serviceAccountName && { serviceAccountName }),
    containers: spec.containers.map((container) => withContainerDefaults(container, { hostNetwork })),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) => withContainerDefaults(container, { hostNetwork })),
    }),
    ...(spec.volumes && { volumes: spec.volumes.map(withVolumeDefaults) }),
    ...(spec.overhead && { overhead: roundedToMillis(spec.overhead) }),
    ...(spec.resources && { resources: inMillis(spec.resources) }),
    ...(spec.securityContext?.sysctls && {
      securityContext: { ...spec.securityContext, sysctls: spec.securityContext.sysctls.map(withValue) },
    }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: pod.metadata,
    spec: spec.resources ? { ...defaulted, resources: withPodLevelDefaults(defaulted) } : defaulted,
  };
};

/**
 * Completes the pod's own resources. The limit of huge pages is the sum of the containers. A pod with limits requests
 * the sum of its containers; for a resource that no container requests, it requests its limit.
 *
 * Source: pkg/apis/core/v1/defaults.go defaultHugePagePodLimits, defaultPodRequests.
 */
const withPodLevelDefaults = (spec: PodSpec): NonNullable<PodSpec['resources']> => {
  const resources = spec.resources!;
  if (isEmpty(resources.limits) && isEmpty(resources.requests)) return resources;
  const hugePages = where(
    containersTogether(spec, 'limits'),
    (name) => isHugePages(name) && resources.requests?.[name] === undefined,
  );
  const limits = { ...hugePages, ...resources.limits };
  if (isEmpty(limits)) return resources;
  const requests = {
    ...where(limits, isPodLevelResource),
    ...where(containersTogether(spec, 'requests'), (name) => isPodLevelResource(name) && !isHugePages(name)),
    ...resources.requests,
  };
  return { ...resources, limits, ...(!isEmpty(requests) && { requests }) };
};

const withValue = <T extends { readonly value?: string }>(item: T): T => ({ ...item, value: item.value ?? '' });

const withoutNegative = (seconds: number): number => (seconds < 0 ? 1 : seconds);
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');
const isEmpty = (list: ResourceList = {}): boolean => Object.keys(list).length === 0;
const where = (list: ResourceList, holds: (name: string) => boolean): ResourceList =>
  Object.fromEntries(Object.entries(list).filter(([name]) => holds(name)));

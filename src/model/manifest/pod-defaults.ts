import type { PodSpec } from '../pod.js';
import { withContainerDefaults } from './container-defaults.js';
import { containerRequests } from './pod-level-requests.js';
import type { PodManifest } from './pod-manifest.js';
import { withVolumeDefaults } from './volume-defaults.js';

/**
 * The pod with everything that the v1 API adds to one before it is stored. Applying it twice changes nothing.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_Pod, SetDefaults_PodSpec.
 */
export const withPodDefaults = (pod: PodManifest): PodManifest => {
  const { spec } = pod;
  const hostNetwork = spec.hostNetwork === true;
  const serviceAccountName = spec.serviceAccountName || spec.serviceAccount;
  const defaulted: PodSpec = {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    ...(serviceAccountName && { serviceAccountName }),
    containers: spec.containers.map((container) => withContainerDefaults(container, { hostNetwork })),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) => withContainerDefaults(container, { hostNetwork })),
    }),
    ...(spec.volumes && { volumes: spec.volumes.map(withVolumeDefaults) }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: pod.metadata,
    spec: spec.resources ? { ...defaulted, resources: withPodLevelRequests(defaulted) } : defaulted,
  };
};

/**
 * Requests of the pod as a whole, when it has resources of its own: what its containers ask for together, and for a
 * resource that none of them asks for, the pod's limit.
 */
const withPodLevelRequests = (spec: PodSpec): NonNullable<PodSpec['resources']> => {
  const resources = spec.resources!;
  const together = containerRequests(spec);
  const inherited = Object.entries({ ...resources.limits, ...together }).filter(([name]) => isPodLevel(name));
  const requests = { ...Object.fromEntries(inherited), ...resources.requests };
  return Object.keys(requests).length > 0 ? { ...resources, requests } : resources;
};

const isPodLevel = (resource: string): boolean =>
  resource === 'cpu' || resource === 'memory' || resource.startsWith('hugepages-');

import { isSameJson } from '../../../model/kube-api/strategic-merge-patch.js';
import { withPodDefaults } from '../../../model/manifest/pod-defaults.js';
import type { PodManifest } from '../../../model/manifest/pod-manifest.js';
import type { ContainerStatus, Pod, PodStatus } from '../../../model/pod/pod.js';
import { qosClass } from '../../../model/pod-status/qos.js';
import { hasRestartAllRule } from '../../../model/pod-actions/restart-policy.js';
import { forbidden, invalid, kindOf, modified } from './api-refusals.js';
import { type ApiResource, PODS } from './api-resource.js';
import { apiTime, type StoredMeta, type StoredObject, without } from './stored-object.js';

/** The fields that the server adds to a new object. */
export interface Newness {
  readonly nowMs: number;
  readonly uid: string;
  /** The end of a generated name. */
  readonly suffix: string;
}

/** Returns the stored form of a new object. Errors: throws for one without a name, or of another namespace. */
export const preparedToCreate = (
  resource: ApiResource,
  namespace: string,
  sent: StoredObject,
  { nowMs, uid, suffix }: Newness,
): StoredObject => {
  const { generateName, ...meta } = sent.metadata;
  const name = meta.name || (generateName && `${generateName}${suffix}`);
  if (!name) throw invalid(resource, '', 'metadata.name: Required value: name or generateName is required');
  if (meta.resourceVersion) throw invalid(resource, name, 'resourceVersion should not be set on objects to be created');
  if (resource.isNamespaced && meta.namespace !== undefined && meta.namespace !== namespace)
    throw invalid(
      resource,
      name,
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  const metadata: StoredMeta = {
    ...meta,
    ...(generateName !== undefined && { generateName }),
    ...(resource.isNamespaced && { namespace }),
    name,
    uid,
    creationTimestamp: apiTime(nowMs),
    ...(resource.hasGeneration && { generation: 1 }),
  };
  const object: StoredObject = { ...sent, ...kindOf(resource), metadata };
  return resource === PODS ? newPod(object) : object;
};

const newPod = (object: StoredObject): StoredObject => {
  const pod = withPodDefaults(object as unknown as PodManifest);
  const status = { phase: 'Pending', qosClass: qosClass(pod as unknown as Pod) };
  return { ...(pod as unknown as StoredObject), status };
};

/**
 * Returns the stored form of an object after a write to it, or to its status: other parts stay. Errors: throws for
 * changes of immutable fields, and for a version that is not the newest.
 */
export const preparedToUpdate = (
  resource: ApiResource,
  before: StoredObject,
  sent: StoredObject,
  subresource: string | undefined,
): StoredObject => {
  const { name = '' } = before.metadata;
  const { resourceVersion, uid } = sent.metadata;
  if (resourceVersion && resourceVersion !== before.metadata.resourceVersion) throw modified(resource, name);
  if (uid && uid !== before.metadata.uid)
    throw invalid(resource, name, `metadata.uid: Invalid value: "${uid}": field is immutable`);
  if ((sent.metadata.name ?? name) !== name) throw invalid(resource, name, 'metadata.name: field is immutable');
  const metadata = updatedMeta(before.metadata, sent.metadata);
  if (subresource === 'status') return statusWritten(resource, before, { ...sent, metadata });
  const after: StoredObject = {
    ...sent,
    ...kindOf(resource),
    metadata,
    ...(resource.hasStatus && { status: before.status }),
  };
  return resource === PODS ? specWritten(before, after, subresource === 'resize' ? ['resources'] : ['image']) : after;
};

/** An update neither sets nor removes the server's own fields. */
const updatedMeta = (before: StoredMeta, sent: StoredMeta): StoredMeta => {
  const { name, namespace, uid, creationTimestamp, generation } = before;
  const { deletionTimestamp, deletionGracePeriodSeconds } = before;
  const rest = without(sent, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation');
  return {
    ...rest,
    name,
    uid,
    creationTimestamp,
    ...(namespace !== undefined && { namespace }),
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp, deletionGracePeriodSeconds }),
  };
};

const statusWritten = (resource: ApiResource, before: StoredObject, sent: StoredObject): StoredObject => {
  const { ownerReferences } = before.metadata;
  const metadata = without(sent.metadata, 'ownerReferences');
  const after: StoredObject = {
    ...before,
    metadata: resource === PODS ? { ...metadata, ...(ownerReferences && { ownerReferences }) } : sent.metadata,
    ...(sent.status && { status: sent.status }),
  };
  return resource === PODS ? podStatusWritten(before, after) : after;
};

/** Source: pkg/registry/core/pod/strategy.go podStatusStrategy, pkg/apis/core/validation ValidatePodStatusUpdate */
const podStatusWritten = (before: StoredObject, after: StoredObject): StoredObject => {
  const { name = '' } = before.metadata;
  const [old, status] = [before.status as PodStatus | undefined, after.status as PodStatus | undefined];
  const kept: PodStatus = { ...status, qosClass: status?.qosClass ?? old?.qosClass };
  if (old?.qosClass !== undefined && kept.qosClass !== old.qosClass)
    throw invalid(PODS, name, `status.qosClass: Invalid value: "${kept.qosClass}": field is immutable`);
  const spec = before.spec as unknown as Pod['spec'];
  const revived = containersBackFromTheDead(spec, old, kept);
  if (revived !== undefined)
    throw invalid(PODS, name, `status.${revived}.state: Forbidden: may not be transitioned to non-terminated state`);
  return { ...after, status: kept };
};

/** The container that was shown as ended for good, and no longer is. */
const containersBackFromTheDead = (
  { restartPolicy = 'Always', containers, initContainers = [] }: Pod['spec'],
  before: PodStatus | undefined,
  after: PodStatus,
): string | undefined => {
  if (restartPolicy === 'Always' || [...initContainers, ...containers].some(hasRestartAllRule)) return undefined;
  const own = new Set([...containers, ...initContainers].filter((one) => one.restartPolicy).map(({ name }) => name));
  const isBack = (old: ContainerStatus, now: readonly ContainerStatus[] = []): boolean => {
    const { terminated } = old.state ?? {};
    if (!terminated || own.has(old.name)) return false;
    if (restartPolicy === 'OnFailure' && terminated.exitCode !== 0) return false;
    return now.some(({ name, state }) => name === old.name && !state?.terminated);
  };
  for (const list of ['containerStatuses', 'initContainerStatuses'] as const) {
    const index = (before?.[list] ?? []).findIndex((old) => isBack(old, after[list]));
    if (index >= 0) return `${list}[${index}]`;
  }
  return undefined;
};

/** A write may change only the images and the deadline of a pod's spec, and add tolerations; a resize only the resources. */
const specWritten = (before: StoredObject, after: StoredObject, changing: readonly string[]): StoredObject => {
  const { name = '', generation = 1 } = before.metadata;
  const defaulted = withPodDefaults(after as unknown as PodManifest) as unknown as StoredObject;
  const spec = defaulted.spec;
  if (isSameJson(before.spec, spec)) return { ...after, spec: before.spec };
  if (!isSameJson(fixedPart(before, changing), fixedPart({ ...after, spec }, changing)))
    throw forbidden(
      PODS,
      name,
      'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
    );
  const problem = deadlineProblem(before.spec ?? {}, spec ?? {});
  if (problem !== undefined) throw invalid(PODS, name, `spec.activeDeadlineSeconds: Invalid value: ${problem}`);
  return { ...after, spec, metadata: { ...after.metadata, generation: generation + 1 } };
};

/** A deadline may be set and made shorter. Source: pkg/apis/core/validation/validation.go ValidatePodUpdate */
const deadlineProblem = (before: Deadline, after: Deadline): string | undefined => {
  const [old, next] = [before.activeDeadlineSeconds, after.activeDeadlineSeconds];
  if (old === undefined) return undefined;
  if (next === undefined) return 'null: must not update from a positive integer to nil value';
  return next > old ? `${next}: must be less than or equal to previous value` : undefined;
};

interface Deadline {
  readonly activeDeadlineSeconds?: number;
}

const fixedPart = ({ spec = {} }: StoredObject, changing: readonly string[]): object => {
  const { containers, initContainers } = spec;
  const rest = without(spec, 'activeDeadlineSeconds', 'tolerations', 'containers', 'initContainers');
  const ofPod = changing.includes('resources') ? without(rest, 'resources' as never) : rest;
  const named = (list: unknown): unknown =>
    (list as readonly object[] | undefined)?.map((container) => without(container, ...(changing as never[])));
  return { ...ofPod, containers: named(containers), initContainers: named(initContainers) };
};

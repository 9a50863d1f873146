import { isSameJson } from '../kube-api/strategic-merge-patch.js';
import type { ContainerStatus, PodCondition, PodStatus } from '../pod/pod.js';
import { DISRUPTION_TARGET, OWNED_CONDITIONS } from './conditions.js';

/** The fields of the status that only other writers set. */
export const FOREIGN_FIELDS = [
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
  'nodeAllocatableResourceClaimStatuses',
] as const;

/**
 * Whether two statuses are equal in the fields of this agent. Conditions are compared by status, reason and message, and
 * those of other writers are not compared; an empty text or list equals an absent one.
 *
 * Source: pkg/kubelet/status/status_manager.go isPodStatusByKubeletEqual
 */
export const isSamePodStatus = (one: PodStatus, other: PodStatus): boolean =>
  one === other || isSameJson(onceFor(substances, one, substanceOf), onceFor(substances, other, substanceOf));

/**
 * Returns the status without empty texts, lists and nulls. The API omits those of most fields, and reads an absent
 * field as empty.
 */
export const withoutEmpty = <T extends object>(value: T): T => onceFor(bare, value, dropEmpty) as T;

/** Statuses never change, and each is compared several times on its way to the API. */
const onceFor = <Of extends object, Result>(
  known: WeakMap<Of, Result>,
  value: Of,
  make: (value: Of) => Result,
): Result => {
  const before = known.get(value);
  if (before !== undefined) return before;
  const made = make(value);
  known.set(value, made);
  return made;
};

const bare = new WeakMap<object, unknown>();
const substances = new WeakMap<PodStatus, object>();

/**
 * Returns the status of the API in the order and with the precision of this agent's statuses.
 *
 * Source: pkg/kubelet/status/status_manager.go normalizeStatus
 */
export const normalizedPodStatus = (status: PodStatus): PodStatus => ({
  ...(wholeSeconds(status) as PodStatus),
  ...sorted('containerStatuses', status),
  ...sorted('ephemeralContainerStatuses', status),
});

const sorted = (list: 'containerStatuses' | 'ephemeralContainerStatuses', status: PodStatus): Partial<PodStatus> => {
  const items = status[list];
  return items ? { [list]: (wholeSeconds(items) as readonly ContainerStatus[]).toSorted(byName) } : {};
};

const byName = (one: ContainerStatus, other: ContainerStatus): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0;

const FRACTION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/;

const wholeSeconds = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replace(FRACTION, '$1Z');
  if (Array.isArray(value)) return value.map(wholeSeconds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wholeSeconds(item)]));
};

const substanceOf = (status: PodStatus): object => {
  const ignored: readonly string[] = [...FOREIGN_FIELDS, 'conditions'];
  const own = Object.entries(status).filter(([key]) => !ignored.includes(key));
  const findings = (status.conditions ?? [])
    .filter(isOurs)
    .map(({ type, status, reason, message }) => [type, { status, reason, message }]);
  return dropEmpty({ ...Object.fromEntries(own), conditions: Object.fromEntries(findings) as object }) as object;
};

const isOurs = ({ type }: PodCondition): boolean => OWNED_CONDITIONS.has(type) || type === DISRUPTION_TARGET;

const dropEmpty = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(dropEmpty);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !isEmpty(item))
      .map(([key, item]) => [key, dropEmpty(item)]),
  );
};

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

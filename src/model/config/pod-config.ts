import { deepEqual } from '../values/deep-equal.js';
import {
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  formatPod,
  type Pod,
  podFullName,
  type PodSourceName,
} from '../pod/pod.js';
import type { PodSet, SourceProblem } from '../pod/pod-set.js';
import { configMapNames, secretNames } from '../references/referenced-names.js';
import { type SourceObject, sourceObjectKey } from '../references/source-object.js';

/** The kubelet's operations, and REFRESH: the pod is the same, and an object that it refers to has changed. */
export type PodOperation = 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE' | 'REFRESH';

/**
 * A change of the pods or of the objects of a source, or a message of a source. An ADD without pods means that the source has delivered
 * its first set, or its first complete set, and it holds no new pods.
 */
export type PodConfigUpdate =
  | {
      readonly kind: 'pods';
      readonly op: PodOperation;
      readonly source: PodSourceName;
      readonly pods: readonly Pod[];
      /** The source has not delivered a complete set yet. */
      readonly isPartial?: true;
    }
  /** All objects of the source, if one has changed. Comes before the pods of the same set. */
  | { readonly kind: 'objects'; readonly source: PodSourceName; readonly objects: readonly SourceObject[] }
  | { readonly kind: 'problem'; readonly source: PodSourceName; readonly problem: SourceProblem };

/** The pods of every source that has delivered a set, by UID. */
export type PodConfigState = ReadonlyMap<PodSourceName, KnownSource>;

interface KnownSource {
  readonly pods: ReadonlyMap<string, KnownPod>;
  /** By `sourceObjectKey`. */
  readonly objects: ReadonlyMap<string, SourceObject>;
  /** No set has been complete yet. */
  readonly isPartial: boolean;
}

interface KnownPod {
  readonly pod: Pod;
  /**
   * The last set of the source. An object of this set that occurs again is unchanged, so the cost of a set depends on
   * its changes.
   */
  readonly said: Pod;
}

export const NO_POD_CONFIG: PodConfigState = new Map();

export interface SeenPodSet extends PodSet {
  readonly source: PodSourceName;
  /** Unix milliseconds. */
  readonly seenAt: number;
}

/**
 * Returns the changes of a source's newest set, in the order in which they are handled: duplicates as problems, then
 * the objects, so that every pod of the set finds them, then REMOVE, ADD, UPDATE, DELETE, the empty ADD of the first
 * set, RECONCILE, REFRESH.
 *
 * Source: pkg/kubelet/config/config.go podStorage.merge.
 */
export const foldPodSet = (
  state: PodConfigState,
  { source, pods: incoming, objects: given = [], isPartial: isIncomplete, seenAt }: SeenPodSet,
): { readonly state: PodConfigState; readonly updates: readonly PodConfigUpdate[] } => {
  const { pods: known, objects: knownObjects, isPartial: wasPartial } = state.get(source) ?? UNHEARD;
  const isPartial = wasPartial && isIncomplete === true;
  const { unique, problems } = withoutDuplicates(source, incoming);
  const objects = uniqueObjects(source, given);
  const changedObjects = changedKeys(knownObjects, objects.unique);
  const pods = new Map<string, KnownPod>();
  const changed: Record<PodOperation, Pod[]> = {
    REMOVE: [],
    ADD: [],
    UPDATE: [],
    DELETE: [],
    RECONCILE: [],
    REFRESH: [],
  };
  for (const pod of unique) {
    const { uid } = pod.metadata;
    const existing = known.get(uid);
    if (!existing) {
      const added = annotate(pod, { [CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_SEEN_ANNOTATION]: nanoTime(seenAt) });
      pods.set(uid, { pod: added, said: pod });
      changed.ADD.push(added);
      continue;
    }
    const isSame = existing.said === pod;
    const { op, pod: merged } = isSame
      ? { op: undefined, pod: existing.pod }
      : comparePods(existing.pod, annotate(pod, { [CONFIG_SOURCE_ANNOTATION]: source }));
    pods.set(uid, isSame ? existing : { pod: merged, said: pod });
    if (op) changed[op].push(merged);
    const isUnchanged = op === undefined || op === 'RECONCILE';
    if (isUnchanged && changedObjects.size > 0 && refersTo(merged, changedObjects)) changed.REFRESH.push(merged);
  }
  for (const [uid, { pod }] of known) if (!pods.has(uid)) changed.REMOVE.push(pod);
  const isNews = !state.has(source) || (wasPartial && !isPartial);
  const isSilentStart = isNews && [changed.ADD, changed.UPDATE, changed.DELETE].every(({ length }) => length === 0);
  const update = (op: PodOperation, force = false): readonly PodConfigUpdate[] =>
    changed[op].length > 0 || force ? [{ kind: 'pods', op, source, pods: changed[op], ...(isPartial && PARTIAL) }] : [];
  return {
    state: new Map(state).set(source, { pods, objects: objects.unique, isPartial }),
    updates: [
      ...[...objects.problems, ...problems].map((problem) => ({ kind: 'problem' as const, source, problem })),
      ...(changedObjects.size > 0 ? [{ kind: 'objects' as const, source, objects: [...objects.unique.values()] }] : []),
      ...update('REMOVE'),
      ...update('ADD', isSilentStart),
      ...update('UPDATE'),
      ...update('DELETE'),
      ...update('RECONCILE'),
      ...update('REFRESH'),
    ],
  };
};

const PARTIAL = { isPartial: true } as const;
const UNHEARD: KnownSource = { pods: new Map(), objects: new Map(), isPartial: true };

/** Keeps the first object of a name. */
const uniqueObjects = (
  source: PodSourceName,
  objects: readonly SourceObject[],
): { readonly unique: ReadonlyMap<string, SourceObject>; readonly problems: readonly SourceProblem[] } => {
  const unique = new Map<string, SourceObject>();
  const problems: SourceProblem[] = [];
  for (const object of objects) {
    const key = sourceObjectKey(object);
    const message = `${key} from ${source} occurs twice; the first one is used`;
    if (unique.has(key)) problems.push({ severity: 'error', message });
    else unique.set(key, object);
  }
  return { unique, problems };
};

/** Returns the keys of objects that are new, gone, or different. */
const changedKeys = (
  before: ReadonlyMap<string, SourceObject>,
  after: ReadonlyMap<string, SourceObject>,
): ReadonlySet<string> =>
  new Set([...before.keys(), ...after.keys()].filter((key) => !deepEqual(before.get(key), after.get(key))));

const refersTo = (pod: Pod, keys: ReadonlySet<string>): boolean => {
  const { namespace } = pod.metadata;
  return (
    [...configMapNames(pod)].some((name) => keys.has(`ConfigMap ${namespace}/${name}`)) ||
    [...secretNames(pod)].some((name) => keys.has(`Secret ${namespace}/${name}`))
  );
};

/** Keeps the first pod of a name and the first pod of a UID. */
const withoutDuplicates = (
  source: PodSourceName,
  pods: readonly Pod[],
): { readonly unique: readonly Pod[]; readonly problems: readonly SourceProblem[] } => {
  const names = new Set<string>();
  const uids = new Set<string>();
  const unique: Pod[] = [];
  const problems: SourceProblem[] = [];
  for (const pod of pods) {
    const name = podFullName(pod);
    const { uid } = pod.metadata;
    const what = names.has(name) ? 'name' : uids.has(uid) ? 'UID' : undefined;
    names.add(name);
    uids.add(uid);
    if (what === undefined) {
      unique.push(pod);
      continue;
    }
    const event = duplicateEvent(pod, source, what);
    problems.push({ severity: 'error', message: event.message, event });
  }
  return { unique, problems };
};

/** The problem of a pod whose name or UID another pod of its source has. */
export const duplicateEvent = (
  pod: Pod,
  source: PodSourceName,
  what: 'name' | 'UID',
): NonNullable<SourceProblem['event']> => {
  const which = JSON.stringify(what === 'name' ? pod.metadata.name : pod.metadata.uid);
  const message = `Error validating pod ${formatPod(pod)} from ${source} due to duplicate pod ${what} ${which}, ignoring`;
  return { pod, reason: 'FailedValidation', message };
};

const LOCAL_ANNOTATIONS = [CONFIG_SOURCE_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION];

const annotate = (pod: Pod, annotations: Readonly<Record<string, string>>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
});

/**
 * Returns the kind of change that a new version of a known pod is, and the known pod after it. Only the changeable
 * fields are taken from the new version; others, such as the owners, stay as first received.
 *
 * Source: pkg/kubelet/config/config.go checkAndUpdatePod.
 */
const comparePods = (existing: Pod, incoming: Pod): { readonly op?: PodOperation; readonly pod: Pod } => {
  if (!isDifferent(existing, incoming)) {
    if (deepEqual(existing.status, incoming.status)) return { pod: existing };
    return { op: 'RECONCILE', pod: withStatus(withVersion(existing, incoming), incoming) };
  }
  const { labels, deletionTimestamp, deletionGracePeriodSeconds, generation, resourceVersion } = incoming.metadata;
  const local = Object.entries(existing.metadata.annotations ?? {}).filter(([key]) => LOCAL_ANNOTATIONS.includes(key));
  const metadata = {
    ...existing.metadata,
    labels,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    resourceVersion,
    annotations: { ...incoming.metadata.annotations, ...Object.fromEntries(local) },
  };
  return {
    op: deletionTimestamp === undefined ? 'UPDATE' : 'DELETE',
    pod: withStatus({ ...existing, metadata: withoutUndefined(metadata), spec: incoming.spec }, incoming),
  };
};

/** The resource version of the status, which a write of the status has to name. */
const withVersion = (pod: Pod, { metadata: { resourceVersion } }: Pod): Pod =>
  resourceVersion === undefined ? pod : { ...pod, metadata: { ...pod.metadata, resourceVersion } };

const withStatus = (pod: Pod, { status }: Pod): Pod => withoutUndefined({ ...pod, status });

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

const isDifferent = (existing: Pod, incoming: Pod): boolean =>
  !deepEqual(existing.spec, incoming.spec) ||
  !deepEqual(existing.metadata.labels, incoming.metadata.labels) ||
  existing.metadata.deletionTimestamp !== incoming.metadata.deletionTimestamp ||
  existing.metadata.deletionGracePeriodSeconds !== incoming.metadata.deletionGracePeriodSeconds ||
  !deepEqual(foreignAnnotations(existing), foreignAnnotations(incoming));

const foreignAnnotations = ({ metadata }: Pod): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !LOCAL_ANNOTATIONS.includes(key)));

/** RFC 3339 with nine digits after the second. */
const nanoTime = (unixMs: number): string => new Date(unixMs).toISOString().replace('Z', '000000Z');

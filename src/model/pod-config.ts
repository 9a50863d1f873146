import { deepEqual } from './deep-equal.js';
import {
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  formatPod,
  type Pod,
  podFullName,
  type PodSourceName,
} from './pod.js';
import type { PodSet, SourceProblem } from './pod-set.js';

export type PodOperation = 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';

/**
 * A change to the pods that a source wants, or something that a source has to say. An ADD without pods says that a source
 * has been heard for the first time and wanted nothing new.
 */
export type PodConfigUpdate =
  | {
      readonly kind: 'pods';
      readonly op: PodOperation;
      readonly source: PodSourceName;
      readonly pods: readonly Pod[];
    }
  | { readonly kind: 'problem'; readonly source: PodSourceName; readonly problem: SourceProblem };

/** The pods of every source that has delivered a set, by UID. */
export type PodConfigState = ReadonlyMap<PodSourceName, ReadonlyMap<string, KnownPod>>;

interface KnownPod {
  readonly pod: Pod;
  /** What the source said last. The same object again changes nothing, so a set of many pods costs no more than what changed. */
  readonly said: Pod;
}

export const NO_POD_CONFIG: PodConfigState = new Map();

export interface SeenPodSet extends PodSet {
  readonly source: PodSourceName;
  /** Unix milliseconds. */
  readonly seenAt: number;
}

/**
 * What a source's newest set changes, in the order in which it has to be handled: REMOVE, ADD, UPDATE, DELETE, the first
 * set's empty ADD, RECONCILE; duplicates come first, as problems.
 *
 * Source: pkg/kubelet/config/config.go podStorage.merge.
 */
export const foldPodSet = (
  state: PodConfigState,
  { source, pods: incoming, seenAt }: SeenPodSet,
): { readonly state: PodConfigState; readonly updates: readonly PodConfigUpdate[] } => {
  const known = state.get(source) ?? new Map<string, KnownPod>();
  const { unique, problems } = withoutDuplicates(source, incoming);
  const pods = new Map<string, KnownPod>();
  const changed: Record<PodOperation, Pod[]> = { REMOVE: [], ADD: [], UPDATE: [], DELETE: [], RECONCILE: [] };
  for (const pod of unique) {
    const { uid } = pod.metadata;
    const existing = known.get(uid);
    if (!existing) {
      const added = annotate(pod, { [CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_SEEN_ANNOTATION]: nanoTime(seenAt) });
      pods.set(uid, { pod: added, said: pod });
      changed.ADD.push(added);
      continue;
    }
    if (existing.said === pod) {
      pods.set(uid, existing);
      continue;
    }
    const { op, pod: merged } = comparePods(existing.pod, annotate(pod, { [CONFIG_SOURCE_ANNOTATION]: source }));
    pods.set(uid, { pod: merged, said: pod });
    if (op) changed[op].push(merged);
  }
  for (const [uid, { pod }] of known) if (!pods.has(uid)) changed.REMOVE.push(pod);
  const isSilentStart =
    !state.has(source) && [changed.ADD, changed.UPDATE, changed.DELETE].every(({ length }) => length === 0);
  const update = (op: PodOperation, force = false): readonly PodConfigUpdate[] =>
    changed[op].length > 0 || force ? [{ kind: 'pods', op, source, pods: changed[op] }] : [];
  return {
    state: new Map(state).set(source, pods),
    updates: [
      ...problems.map((problem) => ({ kind: 'problem' as const, source, problem })),
      ...update('REMOVE'),
      ...update('ADD', isSilentStart),
      ...update('UPDATE'),
      ...update('DELETE'),
      ...update('RECONCILE'),
    ],
  };
};

/** The first pod of a name stays, and so does the first of a UID. */
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
    const what = names.has(name)
      ? `name ${JSON.stringify(pod.metadata.name)}`
      : uids.has(uid)
        ? `UID ${JSON.stringify(uid)}`
        : undefined;
    names.add(name);
    uids.add(uid);
    if (what === undefined) {
      unique.push(pod);
      continue;
    }
    const message = `Error validating pod ${formatPod(pod)} from ${source} due to duplicate pod ${what}, ignoring`;
    problems.push({ severity: 'error', message, event: { pod, reason: 'FailedValidation', message } });
  }
  return { unique, problems };
};

const LOCAL_ANNOTATIONS = [CONFIG_SOURCE_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION];

const annotate = (pod: Pod, annotations: Readonly<Record<string, string>>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } },
});

/**
 * What an incoming version of a known pod means, and the pod that is known afterwards: of the incoming one it takes only
 * what may change, so that for example owners stay as first seen.
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

/** The version that the status is of, which whoever writes it has to name. */
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

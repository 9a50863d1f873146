import type { PodRef } from '../pod/pod.js';
import { NO_ITEMS, plegChanges, type PlegEvent, plegEvents, type PlegRecord, recordOf, showsNoChange } from './pleg.js';
import type { RuntimeItem, RuntimePodStatus } from './runtime-pod.js';

/** The state of one pod in the PLEG, and the work that is due for it. All times are the scheduler's milliseconds. */
export interface PodRecord {
  /** Namespace and name are empty until a listing or a read shows the pod. */
  readonly ref: PodRef;
  readonly known: PlegRecord;
  /** The time of the request that returned `known`. */
  readonly knownAt: number;
  /** The time of the request of the read in flight. */
  readonly readingSince: number | undefined;
  /** The last read failed: the pod is read again even if a listing shows no change, and that read emits at least a `PodSync`. */
  readonly hasFailed: boolean;
  /** Undefined while no work is due. */
  readonly due: DueWork | undefined;
}

/** The reasons for the next step of a pod; they add up until it begins. */
interface DueWork {
  /** A listing that differs from `known`; without items if it does not show the pod. */
  readonly listed?: { readonly items: readonly RuntimeItem[]; readonly at: number };
  readonly isHinted?: true;
  readonly requestedAt?: number;
}

/** Read the pod, accept that it is gone, or do nothing. */
export type PodStep = 'read' | 'remove' | 'none';

/** A record after new knowledge of the pod, and its events. */
export interface FoldedPod {
  readonly record: PodRecord;
  readonly events: readonly PlegEvent[];
  /** The items of the pod differ from those before. */
  readonly hasChanged: boolean;
}

export const newPodRecord = ({ uid, namespace, name }: PodRef): PodRecord => ({
  ref: { uid, namespace, name },
  known: NO_ITEMS,
  knownAt: -Infinity,
  readingSince: undefined,
  hasFailed: false,
  due: undefined,
});

/** The runtime sent an event of the pod. */
export const withHint = (record: PodRecord): PodRecord => withDue(record, { isHinted: true });

/** The agent changed the pod at `at`, or waits for a view newer than that. */
export const withRequest = (record: PodRecord, at: number): PodRecord => withDue(record, { requestedAt: at });

/**
 * The record after a listing requested at `at`, with no items if the listing does not show the pod. Returns the same record if
 * nothing is due: the listing shows no change, or it is older than what is known or being read.
 */
export const withListing = (record: PodRecord, items: readonly RuntimeItem[], at: number): PodRecord => {
  const newestAt = record.readingSince ?? record.knownAt;
  const isOutdated = items.length === 0 ? at <= newestAt : at < newestAt;
  if (isOutdated) return record;
  const isSettled = record.readingSince === undefined && !record.hasFailed;
  if (isSettled && showsNoChange(record.known, items)) return record;
  return withDue(record, { listed: { items, at } });
};

const withDue = (record: PodRecord, due: DueWork): PodRecord => ({ ...record, due: { ...record.due, ...due } });

/** The step for the work that is due. `relistedAt`: the time of the request of the last successful relist. */
export const nextStep = ({ known, hasFailed, due }: PodRecord, relistedAt: number): PodStep => {
  if (!due) return 'none';
  const { listed, isHinted, requestedAt } = due;
  // Times are whole milliseconds in tests: a request as old as the relist may still be younger than its reply.
  const isRequested = requestedAt !== undefined && requestedAt >= relistedAt;
  if (isHinted || isRequested) return 'read';
  if (!listed) return 'none';
  const isGone = listed.items.length === 0;
  const isChanged = hasFailed || !showsNoChange(known, listed.items);
  // Do not trust a listing alone that a running item has disappeared: read the pod.
  if (isChanged && (!isGone || runningItems(known).length > 0)) return 'read';
  return isGone ? 'remove' : 'none';
};

/** The record when a read begins at `at`; the read does all work that was due. */
export const withReadBegun = (record: PodRecord, at: number): PodRecord => ({
  ...record,
  readingSince: at,
  due: undefined,
});

/** The record after a read that failed. It emits nothing; the next relist leads to another read. */
export const withReadFailed = (record: PodRecord): PodRecord => ({
  ...record,
  readingSince: undefined,
  hasFailed: true,
});

/** The record after a read that began at `readingSince` and returned `status`; a status without items is a removal. */
export const foldRead = (record: PodRecord, status: RuntimePodStatus): FoldedPod => {
  const at = record.readingSince ?? record.knownAt;
  const read = { ...record, readingSince: undefined };
  if (isEmptyStatus(status)) return foldKnown(read, NO_ITEMS, at);
  const { namespace, name } = status;
  const named = read.ref.name === '' ? { ...read, ref: { ...read.ref, namespace, name } } : read;
  return foldKnown(named, recordOf(status), at, status);
};

/** The record after a relist that does not show the pod, in place of a read. */
export const foldRemoval = (record: PodRecord): FoldedPod =>
  foldKnown({ ...record, due: undefined }, NO_ITEMS, record.due?.listed?.at ?? record.knownAt);

const foldKnown = (record: PodRecord, known: PlegRecord, knownAt: number, status?: RuntimePodStatus): FoldedPod => {
  const changes = plegChanges(record.known, known);
  const hasChanged = changes.length > 0;
  const isPodSync = record.hasFailed && !hasChanged;
  return {
    record: { ...record, known, knownAt, hasFailed: false },
    events: isPodSync ? [{ pod: record.ref, type: 'PodSync', id: '' }] : plegEvents(record.ref, changes, status),
    hasChanged,
  };
};

/** Whether the runtime has nothing of the pod. */
export const isEmptyStatus = ({ sandboxes, containers }: RuntimePodStatus): boolean =>
  sandboxes.length === 0 && containers.length === 0;

/** Whether the record holds nothing: the pod is gone and nothing is due. */
export const isSpent = ({ known, hasFailed, due }: PodRecord): boolean => known.size === 0 && !hasFailed && !due;

/** The items that ran when the pod was last known. */
export const runningItems = (known: PlegRecord): readonly RuntimeItem[] =>
  [...known.values()].filter(({ state }) => state === 'running');

import type { JournalEntry } from '../../model/journal/journal.js';
import { formatPod, type PodRef } from '../../model/pod/pod.js';

export interface KnownPod {
  readonly ref: PodRef;
  /** The position of its first entry. */
  readonly firstSeen: number;
  /** The position of the entry that added it, or added it again: the newest pod of a name has the highest. */
  readonly livesSince: number;
  readonly lastAt: number;
  readonly isForgotten: boolean;
}

/** Returns every pod of the entries, in the order of their first entries. */
export const podsIn = (entries: readonly JournalEntry[]): readonly KnownPod[] => {
  const pods = new Map<string, KnownPod>();
  entries.forEach((entry, index) => {
    if (!entry.pod) return;
    const before = pods.get(entry.pod.uid);
    const isRevived = before?.isForgotten === true && bringsBack(entry);
    pods.set(entry.pod.uid, {
      ref: entry.pod,
      firstSeen: before?.firstSeen ?? index,
      livesSince: before && !isRevived ? before.livesSince : index,
      lastAt: entry.at,
      isForgotten: entry.kind === 'forgotten' || (before?.isForgotten === true && !isRevived),
    });
  });
  return [...pods.values()];
};

/** Entries about the cleanup of a forgotten pod do not bring it back; entries that add it or sync it do. */
const bringsBack = (entry: JournalEntry): boolean =>
  ['start-delayed', 'admission-rejected', 'sync-started'].includes(entry.kind) ||
  (entry.kind === 'config' && entry.op !== 'REMOVE');

export const fullName = ({ name, namespace }: PodRef): string => `${name}_${namespace}`;

/** Whether `text` names the pod: by name, `name_namespace` with or without `(uid)`, `namespace_name`, or UID. */
export const isCalled = (ref: PodRef, text: string): boolean =>
  [ref.name, ref.uid, fullName(ref), formatPod(ref), `${ref.namespace}_${ref.name}`].includes(text);

/**
 * Returns the pods that `text` may mean, the one to explain first: the newest of those that still exist, else the
 * newest. A static pod also matches by the name in its manifest, without the node's name.
 */
export const podsCalled = (
  pods: readonly KnownPod[],
  text: string,
  nodes: ReadonlySet<string> = new Set(),
): readonly KnownPod[] => {
  const exact = pods.filter(({ ref }) => isCalled(ref, text));
  const called =
    exact.length > 0 ? exact : pods.filter(({ ref }) => [...nodes].some((node) => ref.name === `${text}-${node}`));
  return called.toSorted((a, b) => Number(a.isForgotten) - Number(b.isForgotten) || b.livesSince - a.livesSince);
};

/** Returns the names of the nodes whose agents wrote the entries. */
export const nodesIn = (entries: readonly JournalEntry[]): ReadonlySet<string> =>
  new Set(entries.flatMap((entry) => (entry.kind === 'agent-started' ? [entry.node] : [])));

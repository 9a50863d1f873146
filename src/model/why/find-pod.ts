import type { JournalEntry } from '../journal.js';
import { formatPod, type PodRef } from '../pod.js';

export interface KnownPod {
  readonly ref: PodRef;
  /** Position of its first entry: a later incarnation of a name has a higher one. */
  readonly firstSeen: number;
  readonly lastAt: number;
  readonly isForgotten: boolean;
}

/** Every pod that the entries are about, in the order of their first entries. */
export const podsIn = (entries: readonly JournalEntry[]): readonly KnownPod[] => {
  const pods = new Map<string, KnownPod>();
  entries.forEach((entry, index) => {
    if (!entry.pod) return;
    const before = pods.get(entry.pod.uid);
    pods.set(entry.pod.uid, {
      ref: entry.pod,
      firstSeen: before?.firstSeen ?? index,
      lastAt: entry.at,
      isForgotten: entry.kind === 'forgotten',
    });
  });
  return [...pods.values()];
};

export const fullName = ({ name, namespace }: PodRef): string => `${name}_${namespace}`;

/** Whether `text` names the pod: by name, `name_namespace` with or without `(uid)`, `namespace_name`, or UID. */
export const isCalled = (ref: PodRef, text: string): boolean =>
  [ref.name, ref.uid, fullName(ref), formatPod(ref), `${ref.namespace}_${ref.name}`].includes(text);

/**
 * The incarnations that `text` may mean, the one to explain first: newest of those that still exist, else newest. A static
 * pod may be called by the name in its manifest, without the node's that was added to it.
 */
export const podsCalled = (
  pods: readonly KnownPod[],
  text: string,
  nodes: ReadonlySet<string> = new Set(),
): readonly KnownPod[] => {
  const exact = pods.filter(({ ref }) => isCalled(ref, text));
  const called =
    exact.length > 0 ? exact : pods.filter(({ ref }) => [...nodes].some((node) => ref.name === `${text}-${node}`));
  return called.toSorted((a, b) => Number(a.isForgotten) - Number(b.isForgotten) || b.firstSeen - a.firstSeen);
};

/** The names of the nodes whose agents wrote the entries. */
export const nodesIn = (entries: readonly JournalEntry[]): ReadonlySet<string> =>
  new Set(entries.flatMap((entry) => (entry.kind === 'agent-started' ? [entry.node] : [])));

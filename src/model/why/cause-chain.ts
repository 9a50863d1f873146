import type { JournalEntry } from '../journal.js';
import { isTerminalPhase } from '../pod.js';
import type { ContainerStory, PodStory } from './pod-story.js';

/** More than that is a history, not an explanation. */
const LONGEST = 20;

const TELLING_CALLS = ['RunPodSandbox', 'StartContainer', 'StopContainer', 'StopPodSandbox'];

/** Whether the entry is something that a question can start from, instead of the machinery around it. */
const isTelling = (entry: JournalEntry): boolean => {
  switch (entry.kind) {
    case 'config':
      return entry.op !== 'RECONCILE';
    case 'config-problem':
    case 'admission-rejected':
    case 'start-delayed':
    case 'kill-requested':
    case 'back-off':
    case 'phase':
    case 'forgotten':
    case 'call-slow':
    case 'probe':
      return true;
    case 'runtime-changed':
      // Without a container it is the sandbox, which follows its containers.
      return entry.container !== undefined && ['ContainerDied', 'ContainerStarted'].includes(entry.change);
    case 'call':
      return entry.error !== undefined || TELLING_CALLS.includes(entry.call);
    case 'sync-ended':
      return entry.error !== undefined;
    case 'sync-started':
      return entry.work === 'terminating';
    default:
      return false;
  }
};

/**
 * The newest entry that tells something of the pod (or of one container), and what led to it, newest first. Causes are
 * followed; an observation of the runtime or by a probe has none, so it leads to the start of that container. Of a loop only the newest
 * turn is in the chain, and the entry that brought the pod ends it.
 */
export const causeChain = (
  entries: readonly JournalEntry[],
  story: PodStory,
  container: ContainerStory | undefined,
): readonly JournalEntry[] => {
  const own = entries.filter(
    (entry) =>
      entry.pod?.uid === story.ref.uid ||
      (entry.kind === 'config-problem' && entry.keeps?.some(({ uid }) => uid === story.ref.uid)),
  );
  const inScope = (entry: JournalEntry) => !container || entry.container === container.name;
  const last = own.findLast((entry) => isTelling(entry) && inScope(entry)) ?? own.findLast(isTelling);
  const newest = container ? last : (endOf(story) ?? reasonInside(last, own));
  if (!newest) return [];

  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const position = new Map(own.map((entry, index) => [entry.id, index]));
  const found = new Map<string, JournalEntry>();
  const deaths = new Set<string>();
  const waiting: JournalEntry[] = [newest];
  for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
    if (found.has(entry.id)) continue;
    if (isDeath(entry)) {
      if (deaths.has(entry.container ?? '')) continue;
      deaths.add(entry.container ?? '');
    }
    found.set(entry.id, entry);
    waiting.push(...entry.causes.flatMap((id) => byId.get(id) ?? []));
    const before = own.slice(0, position.get(entry.id) ?? 0);
    const implied = impliedCause(entry, before);
    if (implied) waiting.push(implied);
  }
  const origin = story.config;
  if (origin) found.set(origin.id, origin);
  const order = new Map(entries.map((entry, index) => [entry.id, index]));
  return [...found.values()].toSorted((a, b) => (order.get(b.id) ?? 0) - (order.get(a.id) ?? 0)).slice(0, LONGEST);
};

/** What became of a pod that has run to its end; stopping and cleaning up only follow from it. */
const endOf = ({ phase }: PodStory): JournalEntry | undefined => (isTerminalPhase(phase?.to) ? phase : undefined);

/** The error of a pass only repeats what failed or was put off during the pass, where that is known. */
const reasonInside = (last: JournalEntry | undefined, own: readonly JournalEntry[]): JournalEntry | undefined => {
  if (last?.kind !== 'sync-ended') return last;
  const start = own.findIndex(({ id }) => last.causes.includes(id));
  const inside = start < 0 ? [] : own.slice(start, own.indexOf(last));
  const isReason = (entry: JournalEntry) =>
    entry.kind === 'back-off' || (entry.kind === 'call' && entry.error !== undefined);
  return inside.findLast(isReason) ?? last;
};

const isDeath = (entry: JournalEntry): boolean => entry.kind === 'runtime-changed' && entry.change === 'ContainerDied';

const impliedCause = (entry: JournalEntry, before: readonly JournalEntry[]): JournalEntry | undefined => {
  const ofSame = ({ container }: JournalEntry) => container === entry.container;
  if (entry.kind === 'back-off' && entry.subject === 'restart') {
    return before.findLast((earlier) => isDeath(earlier) && ofSame(earlier));
  }
  if (entry.kind !== 'runtime-changed' && entry.kind !== 'probe') return undefined;
  const isStart = (earlier: JournalEntry) =>
    ofSame(earlier) && earlier.kind === 'call' && earlier.call === 'StartContainer' && earlier.error === undefined;
  // The call that stops a container is in the journal when it returns, which may be after the end that it brought about.
  const isStop = (earlier: JournalEntry) => earlier.kind === 'sync-started' && earlier.work === 'terminating';
  return before.findLast((earlier) => isStart(earlier) || (isDeath(entry) && isStop(earlier)));
};

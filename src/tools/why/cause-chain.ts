import type { JournalEntry } from '../../model/journal/journal.js';
import { isTerminalPhase } from '../../model/pod/pod.js';
import type { ContainerStory } from './container-story.js';
import type { PodStory } from './pod-story.js';

const TELLING_CALLS = [
  ...['RunPodSandbox', 'StartContainer', 'StopContainer', 'StopPodSandbox', 'UpdateContainerResources'],
];

/** Whether an explanation can begin with the entry; entries about the agent's own work do not count. */
const isTelling = (entry: JournalEntry): boolean => {
  switch (entry.kind) {
    case 'config':
      return entry.op !== 'RECONCILE';
    case 'config-problem':
    case 'admission-rejected':
    case 'room-awaited':
    case 'resize':
    case 'start-delayed':
    case 'kill-requested':
    case 'back-off':
    case 'back-off-unknown':
    case 'end-not-counted':
    case 'phase':
    case 'forgotten':
    case 'call-slow':
    case 'probe':
      return true;
    case 'runtime-changed':
      // Without a container it is the sandbox, which comes after its containers.
      return entry.container !== undefined && ['ContainerDied', 'ContainerStarted'].includes(entry.change);
    case 'call':
      return entry.error !== undefined || TELLING_CALLS.includes(entry.call);
    case 'sync-ended':
    case 'volume':
      return entry.error !== undefined;
    case 'sync-started':
      return entry.work === 'terminating';
    default:
      return false;
  }
};

/**
 * Returns the newest entry about the pod (or about one container) and its causes, newest first. An observation by the
 * runtime or by a probe has no cause, so it leads to the start of that container. The chain has only the newest round
 * of a loop. The chain ends with the entry that added the pod.
 */
export const causeChain = (
  entries: readonly JournalEntry[],
  story: PodStory,
  container: ContainerStory | undefined,
): readonly JournalEntry[] => {
  const own = entries.filter(
    (entry) =>
      !story.repeats.has(entry.id) &&
      (entry.pod?.uid === story.ref.uid ||
        (entry.kind === 'config-problem' && entry.keeps?.some(({ uid }) => uid === story.ref.uid))),
  );
  const inScope = (entry: JournalEntry) => !container || entry.container === container.name;
  const last = own.findLast((entry) => isTelling(entry) && inScope(entry)) ?? own.findLast(isTelling);
  const ended = endOf(story);
  // A removed container has a second cause beside its end: the removal.
  const newest = container ? [last] : ended ? [ended, story.forgotten] : [reasonInside(last, own)];

  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const position = new Map(own.map((entry, index) => [entry.id, index]));
  const found = new Map<string, JournalEntry>();
  const deaths = new Set<string>();
  const waiting = newest.filter((entry) => entry !== undefined);
  if (waiting.length === 0) return [];
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
  return [...found.values()].toSorted((a, b) => (order.get(b.id) ?? 0) - (order.get(a.id) ?? 0));
};

/** The end of a completed pod; its stop and cleanup only follow from it. */
const endOf = ({ phase }: PodStory): JournalEntry | undefined => (isTerminalPhase(phase?.to) ? phase : undefined);

/** The error of a sync only repeats the failures and waits of the sync, if those are known. */
const reasonInside = (last: JournalEntry | undefined, own: readonly JournalEntry[]): JournalEntry | undefined => {
  if (last?.kind !== 'sync-ended') return last;
  const start = own.findIndex(({ id }) => last.causes.includes(id));
  const inside = start < 0 ? [] : own.slice(start, own.indexOf(last));
  const isReason = (entry: JournalEntry) =>
    entry.kind === 'back-off' || (entry.kind === 'call' && entry.error !== undefined);
  return inside.findLast(isReason) ?? last;
};

const asksToStop = (entry: JournalEntry): boolean =>
  entry.kind === 'kill-requested' ||
  entry.kind === 'housekeeping' ||
  (entry.kind === 'config' && (entry.op === 'REMOVE' || entry.op === 'DELETE'));

const isDeath = (entry: JournalEntry): boolean => entry.kind === 'runtime-changed' && entry.change === 'ContainerDied';

const startsWithoutWait = ({ kind }: JournalEntry): boolean =>
  kind === 'back-off-unknown' || kind === 'end-not-counted';

const impliedCause = (entry: JournalEntry, before: readonly JournalEntry[]): JournalEntry | undefined => {
  // A pod is removed because a source or client removed it.
  if (entry.kind === 'forgotten') return before.findLast(asksToStop);
  const ofSame = ({ container }: JournalEntry) => container === entry.container;
  if ((entry.kind === 'back-off' && entry.subject === 'restart') || startsWithoutWait(entry)) {
    return before.findLast((earlier) => isDeath(earlier) && ofSame(earlier));
  }
  if (entry.kind === 'call' && entry.call === 'StartContainer') {
    const isOfPass = ({ causes }: JournalEntry) => causes.some((id) => entry.causes.includes(id));
    return before.findLast((earlier) => startsWithoutWait(earlier) && ofSame(earlier) && isOfPass(earlier));
  }
  if (entry.kind !== 'runtime-changed' && entry.kind !== 'probe') return undefined;
  const isStart = (earlier: JournalEntry) =>
    ofSame(earlier) && earlier.kind === 'call' && earlier.call === 'StartContainer' && earlier.error === undefined;
  // The journal has the call that stops a container when the call returns, which may be after the end of the container.
  const isStop = (earlier: JournalEntry) => earlier.kind === 'sync-started' && earlier.work === 'terminating';
  return before.findLast((earlier) => isStart(earlier) || (isDeath(entry) && isStop(earlier)));
};

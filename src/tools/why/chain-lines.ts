import type { JournalEntry } from '../../model/journal/journal.js';
import { causeChain } from './cause-chain.js';
import { type ContainerStory, timeOf } from './container-story.js';
import { describeEntry, placeText, withShortIds } from './describe-entry.js';
import { fullName } from './find-pod.js';
import { plainDuration } from '../../model/values/plain-duration.js';
import type { PodRef } from '../../model/pod/pod.js';
import type { PodStory } from './pod-story.js';

/** The most lines of a chain: more would be a history instead of an explanation. */
const LONGEST = 20;

/** Returns the chain of causes as lines, newest first. A repeated line is shown once, with its count. */
export const chainLines = (
  entries: readonly JournalEntry[],
  story: PodStory,
  scope: ContainerStory | undefined,
  now: number,
): string[] => {
  const told = causeChain(entries, story, scope).flatMap((entry) => {
    // A sync with causes in the chain is a step between two lines, not a reason.
    const isMachinery = entry.kind === 'sync-started' && entry.work === 'sync' && entry.causes.length > 0;
    const text = isMachinery ? undefined : textOf(entry, story);
    return text === undefined ? [] : [{ at: timeOf(entry), text: withShortIds(text) }];
  });
  const folded = new Map<string, Said>();
  for (const { at, text } of told) {
    const { times, first, last } = folded.get(text) ?? { times: 0, first: at, last: at };
    folded.set(text, { times: times + 1, first: Math.min(first, at), last: Math.max(last, at) });
  }
  const lines = [...folded]
    .map(([text, said]) => ({ at: said.last, text: text + timesText(said, now) }))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, LONGEST)
    .map(({ at, text }) => ({ age: `${plainDuration(now - at)} ago`, text }));
  if (lines.length === 0) return [];
  const width = Math.max(...lines.map(({ age }) => age.length));
  const ends = [...story.containers.values()]
    .filter((one) => (!scope || one === scope) && one.deaths.length > 1)
    .map(({ name, deaths }) => {
      const first = timeOf(deaths[0]!);
      return `  ${name} ended ${deaths.length} times in the last ${plainDuration(now - first)}`;
    });
  return ['because:', ...lines.map(({ age, text }) => `  ${age.padEnd(width)}  ${text}`), ...ends];
};

/** The number of times that a line occurred, with the first and the last time. */
interface Said {
  readonly times: number;
  readonly first: number;
  readonly last: number;
}

const timesText = ({ times, first }: Said, now: number): string =>
  times === 1 ? '' : ` (${times} times in the last ${plainDuration(now - first)})`;

/** A pod that an agent reads after its start existed before. A pod that is stopped for another one says so itself. */
const textOf = (entry: JournalEntry, { reread, ref }: PodStory): string | undefined => {
  if (entry.kind === 'config' && reread.has(entry.id))
    return `the agent found the pod after its start in ${placeText(entry)}`;
  return isOfAnother(entry, ref) ? undefined : describeEntry(entry);
};

const isOfAnother = ({ kind, pod }: JournalEntry, ref: PodRef): boolean =>
  pod !== undefined && fullName(pod) !== fullName(ref) && (kind === 'room-awaited' || kind === 'config');

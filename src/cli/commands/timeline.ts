import { writeFileSync } from 'node:fs';
import { readJournal } from '../../journal/journal-reader.js';
import type { JournalEntry } from '../../model/journal/journal.js';
import type { Timeline } from '../../tools/timeline/lanes.js';
import type { Observed } from '../../tools/timeline/observations.js';
import { parseInstant } from '../../tools/timeline/parse-instant.js';
import { renderPage } from '../../tools/timeline/render-page.js';
import { renderSvg } from '../../tools/timeline/render-svg.js';
import { renderText } from '../../tools/timeline/render-text.js';
import { timelineOfJournal } from '../../tools/timeline/timeline-of-journal.js';
import { unknownPod } from '../../tools/why/why.js';
import { fullName, nodesIn, podsCalled, podsIn } from '../../tools/why/find-pod.js';
import { readStory } from '../../tools/recording/incident/read-story.js';
import { openRecording } from '../../tools/recording/file/recording-reader.js';
import { isAgentAlive, readAgentFile } from '../running-agent/agent-file.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import { paintTimeline } from '../screen/paint-timeline.js';

export interface TimelineOptions {
  /** A recording to read instead of the journal. */
  readonly recording?: string;
  /** A date, or a duration before the end of the journal or recording. */
  readonly since?: string;
  readonly until?: string;
  readonly output: 'text' | 'json' | 'svg' | 'html';
  /** Standard output unless given. */
  readonly outputFile?: string;
  readonly ascii: boolean;
  /** Whether stretches without events are shortened. */
  readonly fold: boolean;
  readonly width?: number;
}

/**
 * Prints the life of a pod as lanes. Errors: the pod is neither in the journal nor in the recording, or a time is
 * malformed, in one line; nothing happened between the times.
 */
export const printTimeline = (paths: AgentPaths, pod: string, options: TimelineOptions, now: number): void => {
  const story = options.recording === undefined ? liveStory(paths, now) : recordedStory(options.recording);
  write(render(timelineOfPod(story, pod, options), options), options.outputFile);
};

/** The entries of the journal or the recording. */
interface Story {
  readonly entries: readonly JournalEntry[];
  readonly nodes: ReadonlySet<string>;
  /** The time up to which the entries are complete. */
  readonly until: number;
  /** The time from which durations are counted back. */
  readonly now: number;
  readonly observed?: Observed;
}

const liveStory = (paths: AgentPaths, now: number): Story => {
  const { entries, unreadable } = readJournal(paths.journalDir);
  if (unreadable > 0) {
    process.stderr.write(`(${unreadable} lines of the journal in ${paths.journalDir} cannot be read)\n`);
  }
  const until = isAgentAlive(readAgentFile(paths.agentFile)) ? now : (entries.at(-1)?.at ?? now);
  return { entries, nodes: nodesIn(entries), until, now };
};

const recordedStory = (file: string): Story => {
  const reader = openRecording(file);
  try {
    const { journal, observed, node, until } = readStory(reader.header, reader.entries);
    return { entries: journal, nodes: new Set(node === undefined ? [] : [node]), until, now: until, observed };
  } finally {
    reader.close();
  }
};

const timelineOfPod = (story: Story, pod: string, { since, until: end }: TimelineOptions): Timeline => {
  const { entries, nodes, now, observed } = story;
  const called = podsCalled(podsIn(entries), pod, nodes);
  const [meant] = called;
  if (!meant) throw new Error(unknownPod(entries, pod).join('; '));
  const name = fullName(meant.ref);
  // All incarnations of the name belong to its life; a pod of the same name in another namespace is another pod.
  const incarnations = called.filter(({ ref }) => fullName(ref) === name).toSorted((a, b) => a.firstSeen - b.firstSeen);
  const others = [...new Set(called.map(({ ref }) => fullName(ref)))].filter((other) => other !== name);
  if (others.length > 0) {
    process.stderr.write(`(several pods have this name; this is ${name}, not ${others.join(', ')})\n`);
  }
  const from = instantOf('--since', since, now);
  const until = instantOf('--until', end, now) ?? story.until;
  if (from !== undefined && from > until) throw new Error('--since is after the end of the timeline');
  const timeline = timelineOfJournal({
    entries,
    pods: incarnations.map(({ ref }) => ref),
    until,
    ...(from === undefined ? {} : { from }),
    ...(observed === undefined ? {} : { observed }),
  });
  if (timeline.pods.length === 0) {
    const last = new Date(Math.max(...incarnations.map(({ lastAt }) => lastAt))).toISOString();
    throw new Error(`nothing is known of ${name} in that time; its last entry is of ${last}`);
  }
  const [node] = nodes;
  return { ...(node === undefined ? {} : { node }), ...timeline };
};

const instantOf = (flag: string, text: string | undefined, now: number): number | undefined => {
  if (text === undefined) return undefined;
  const at = parseInstant(text, now);
  if (at === undefined) {
    throw new Error(
      `${flag} ${JSON.stringify(text)} is no time: expected a duration such as 10m, or a date such as 2026-01-31T12:00:00Z`,
    );
  }
  return at;
};

/** The width for a file, in columns. */
const USUAL_WIDTH = 120;

const render = (timeline: Timeline, { output, outputFile, ascii, fold, width }: TimelineOptions): string => {
  const name = [...new Set(timeline.pods.map(({ ref }) => fullName(ref)))].join(', ');
  switch (output) {
    case 'json':
      return `${JSON.stringify(timeline, undefined, 2)}\n`;
    case 'svg':
      return renderSvg(timeline, {
        title: `timeline of ${name}`,
        isFolded: fold,
        ...(width === undefined ? {} : { width }),
      });
    case 'html':
      return renderPage(timeline);
    case 'text': {
      const lines = renderText(timeline, {
        width: width ?? (outputFile === undefined ? (process.stdout.columns ?? USUAL_WIDTH) : USUAL_WIDTH),
        charset: ascii ? 'ascii' : 'unicode',
        isFolded: fold,
        ...(outputFile === undefined ? { paint: paintTimeline } : {}),
      });
      return `${lines.join('\n')}\n`;
    }
  }
};

const write = (text: string, file: string | undefined): void => {
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
};

import type { JournalId } from '../../model/journal/journal.js';
import type { PodRef } from '../../model/pod/pod.js';

/** The events of a node between two instants, pod by pod, as lanes that share one time axis. */
export interface Timeline {
  /** Unix milliseconds, or milliseconds of virtual time. No mark is outside of `from` and `until`. */
  readonly from: number;
  readonly until: number;
  /** The labels of the axis: the time of day in UTC, or the time since `from`. */
  readonly clock: 'time-of-day' | 'since-start';
  readonly node?: string;
  readonly pods: readonly TimelinePod[];
  /** The marks for every lane, such as a restart of the agent; in the order of `at`. */
  readonly breaks: readonly Mark[];
  /** The sources of the marks: every known `entry` and cause is here, in the order of `at`. */
  readonly entries: readonly TimelineEntry[];
}

export interface TimelinePod {
  readonly ref: PodRef;
  readonly lanes: readonly Lane[];
}

/** In the order in which lanes are drawn. */
const LANE_KINDS = ['config', 'worker', 'runtime', 'probe', 'status', 'calls', 'events'] as const;
export type LaneKind = (typeof LANE_KINDS)[number];

export interface Lane {
  readonly kind: LaneKind;
  /** The label in front of the lane: `config`, `main`, `main readiness`. Unique within its pod. */
  readonly name: string;
  readonly container?: string;
  /** In the order of `at`; spans of `calls` and `status` may overlap. */
  readonly marks: readonly Mark[];
}

/**
 * The importance of a mark: `quiet` ones are drawn if there is room, all others are also listed, and none of them is
 * ever folded away.
 */
export type Severity = 'quiet' | 'note' | 'good' | 'warning' | 'error';

/** The kind of a span. `passing` and `failing` are verdicts of probes, `away` is an agent that does not run. */
export type SpanLook =
  | 'waiting'
  | 'created'
  | 'running'
  | 'sync'
  | 'stopping'
  | 'cleanup'
  | 'back-off'
  | 'call'
  | 'phase'
  | 'passing'
  | 'failing'
  | 'away'
  | 'unhealthy';

/** The kind of an instant. `success` and `failure` are single results, of a probe or otherwise. */
export type InstantLook =
  | 'change'
  | 'start'
  | 'exit-good'
  | 'exit-bad'
  | 'success'
  | 'failure'
  | 'verdict-good'
  | 'verdict-bad'
  | 'kill'
  | 'tick'
  | 'event'
  | 'break';

export interface Mark {
  /** Unique within the timeline, and the same for every reading of the same journal. */
  readonly id: string;
  readonly at: number;
  /** The end of a span; absent for an instant. */
  readonly until?: number;
  /** The span is not over: `until` is only the end of the timeline. */
  readonly isOpen?: boolean;
  readonly look: SpanLook | InstantLook;
  /** A few words, drawn into a span that has room: `back-off 20 s`, `StartContainer`. */
  readonly label: string;
  /** The full description in plain words. May have several lines. */
  readonly text: string;
  readonly severity: Severity;
  /** A mark that may be folded away with others of its kind, named in the singular for the tally: `routine sync`. */
  readonly routine?: string;
  /** The entry of the mark, or of the span's begin. */
  readonly entry?: JournalId;
  /** The entry of the span's end. */
  readonly endedBy?: JournalId;
  /** The entries that caused it. */
  readonly causes: readonly JournalId[];
}

/** The source of a mark, as the page shows it. */
export interface TimelineEntry {
  readonly id: JournalId;
  readonly at: number;
  /** In plain words; absent if only the record explains it. */
  readonly text?: string;
  readonly causes: readonly JournalId[];
  /** Plain JSON: the journal entry itself. */
  readonly record: unknown;
}

/** Whether the mark is listed below the lanes, and never folded away. */
export const isNotable = ({ severity }: Mark): boolean => severity !== 'quiet';

const RANKS: Readonly<Record<Severity, number>> = { quiet: 0, note: 1, good: 2, warning: 3, error: 4 };

/** A higher number is more important. */
export const severityRank = ({ severity }: Mark): number => RANKS[severity];

/** The end of the mark, which is the begin of an instant. */
export const endOf = ({ at, until }: Mark): number => until ?? at;

/** Returns every mark of a timeline, breaks first, then pod by pod and lane by lane. */
export const marksOf = ({ breaks, pods }: Timeline): readonly Mark[] => [
  ...breaks,
  ...pods.flatMap(({ lanes }) => lanes.flatMap(({ marks }) => marks)),
];

/** Sorts lanes in the order of `LANE_KINDS`, and containers in the order of `containers`, else of their first marks. */
export const inDrawingOrder = (lanes: readonly Lane[], containers: readonly string[] = []): readonly Lane[] => {
  const rank = ({ kind, container }: Lane): number =>
    LANE_KINDS.indexOf(kind) * 1000 + (container === undefined ? 0 : containers.indexOf(container) + 1);
  return lanes.toSorted((one, other) => rank(one) - rank(other));
};

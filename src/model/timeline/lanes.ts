import type { JournalId } from '../journal.js';
import type { PodRef } from '../pod.js';

/** What happened on a node between two instants, pod by pod, as lanes that share one axis of time. */
export interface Timeline {
  /** Unix milliseconds, or milliseconds of virtual time. No mark is outside of `from` and `until`. */
  readonly from: number;
  readonly until: number;
  /** What the axis says: the time of day in UTC, or how long after `from`. */
  readonly clock: 'time-of-day' | 'since-start';
  readonly node?: string;
  readonly pods: readonly TimelinePod[];
  /** What concerns every lane, such as a restart of the agent; in the order of `at`. */
  readonly breaks: readonly Mark[];
  /** What the marks stem from; every `entry` and every cause that is known is here, in the order of `at`. */
  readonly entries: readonly TimelineEntry[];
}

export interface TimelinePod {
  readonly ref: PodRef;
  readonly lanes: readonly Lane[];
}

/** In the order in which lanes are drawn. */
export const LANE_KINDS = ['config', 'worker', 'runtime', 'probe', 'status', 'calls', 'events'] as const;
export type LaneKind = (typeof LANE_KINDS)[number];

export interface Lane {
  readonly kind: LaneKind;
  /** What stands in front of it: `config`, `main`, `main readiness`. Unique within its pod. */
  readonly name: string;
  readonly container?: string;
  /** In the order of `at`; spans of `calls` and `status` may overlap. */
  readonly marks: readonly Mark[];
}

/**
 * How much a mark matters: `quiet` ones are drawn where there is room, all others are also listed, and none of them is ever
 * folded away.
 */
export type Severity = 'quiet' | 'note' | 'good' | 'warning' | 'error';

/** What a span is a picture of. `passing` and `failing` are verdicts of probes, `away` is an agent that does not run. */
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

/** What an instant is a picture of. `success` and `failure` are single results, of a probe or otherwise. */
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
  /** Unique within the timeline, and the same whenever the same journal is read. */
  readonly id: string;
  readonly at: number;
  /** The end of a span; absent for an instant. */
  readonly until?: number;
  /** The span goes on: `until` is only where the timeline ends. */
  readonly isOpen?: boolean;
  readonly look: SpanLook | InstantLook;
  /** A few words, drawn into a span that has room: `back-off 20 s`, `StartContainer`. */
  readonly label: string;
  /** All that is known, in plain words. May have several lines. */
  readonly text: string;
  readonly severity: Severity;
  /** Makes it one of many that may be folded away, named in the singular for the tally: `routine sync`. */
  readonly routine?: string;
  /** The entry that says it, or that begins the span. */
  readonly entry?: JournalId;
  /** The entry that ends the span. */
  readonly endedBy?: JournalId;
  /** The entries that led to it. */
  readonly causes: readonly JournalId[];
}

/** What a mark stems from, as the page shows it. */
export interface TimelineEntry {
  readonly id: JournalId;
  readonly at: number;
  /** In plain words; absent where there is no more to say than the record. */
  readonly text?: string;
  readonly causes: readonly JournalId[];
  /** Plain JSON: the journal entry itself. */
  readonly record: unknown;
}

/** Whether the mark is listed beneath the lanes, and never folded away. */
export const isNotable = ({ severity }: Mark): boolean => severity !== 'quiet';

const RANKS: Readonly<Record<Severity, number>> = { quiet: 0, note: 1, good: 2, warning: 3, error: 4 };

/** The higher, the more it matters. */
export const severityRank = ({ severity }: Mark): number => RANKS[severity];

/** Where the mark ends, which is where it begins for an instant. */
export const endOf = ({ at, until }: Mark): number => until ?? at;

/** Every mark of a timeline, breaks first, then pod by pod and lane by lane. */
export const marksOf = ({ breaks, pods }: Timeline): readonly Mark[] => [
  ...breaks,
  ...pods.flatMap(({ lanes }) => lanes.flatMap(({ marks }) => marks)),
];

/** Lanes in the order of `LANE_KINDS`, containers in the order given by `containers`, else as they come. */
export const inDrawingOrder = (lanes: readonly Lane[], containers: readonly string[] = []): readonly Lane[] => {
  const rank = ({ kind, container }: Lane): number =>
    LANE_KINDS.indexOf(kind) * 1000 + (container === undefined ? 0 : containers.indexOf(container) + 1);
  return lanes.toSorted((one, other) => rank(one) - rank(other));
};

import type { CriErrorCode } from '../../model/cri-error.js';
import type { Pod } from '../../model/pod.js';
import type { ProbeType } from '../../model/probes/probe-type.js';

/** The source wants the pod so from then on, or no longer wants it. Times are milliseconds since the recording began. */
export interface IncidentChange {
  readonly atMs: number;
  readonly pod?: Pod;
}

/** What a source has said of the pods of one name. */
export interface IncidentPod {
  readonly source: string;
  readonly namespace: string;
  readonly name: string;
  readonly changes: readonly IncidentChange[];
}

export interface IncidentProbe {
  readonly type: ProbeType;
  /** When it was asked. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly ok: boolean;
}

export interface IncidentCommand {
  readonly command: readonly string[];
  readonly tookMs: number;
  readonly exitCode: number;
}

/** One instance of a container, as far as the agent has heard of it. */
export interface IncidentInstance {
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly attempt: number;
  /** It was there before the recording began. */
  readonly isAdopted: boolean;
  readonly startedMs?: number;
  /** What StartContainer took. */
  readonly startTookMs?: number;
  readonly startError?: string;
  /** When it was first asked to stop. */
  readonly stopAskedMs?: number;
  /** After the start. */
  readonly lifeMs?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly probes: readonly IncidentProbe[];
  /** Run by the agent in the container, as its hooks are. */
  readonly commands: readonly IncidentCommand[];
}

export interface IncidentPull {
  readonly image: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly error?: string;
}

/** A call of the runtime that was refused. */
export interface IncidentRefusal {
  /** The CRI method. */
  readonly call: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly code: CriErrorCode;
}

export interface IncidentEvent {
  readonly atMs: number;
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
  readonly type: string;
  readonly reason: string;
}

/** What a recording says of the world in which its agent lived, whatever the agent made of it. */
export interface Incident {
  /** When it began, in Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly options: {
    readonly eventedPleg: boolean;
    readonly syncFrequencyMs: number;
    readonly maxRestartBackOffMs: number;
    /** Images that are pulled at a time. */
    readonly parallelPulls: number;
  };
  /** The runtime has no stream of events. */
  readonly tellsNoEvents: boolean;
  readonly pods: readonly IncidentPod[];
  /** In the order in which the agent has heard of them. */
  readonly instances: readonly IncidentInstance[];
  /** What making each sandbox took. */
  readonly sandboxesTookMs: readonly number[];
  /** Images that were there without a pull. */
  readonly imagesPresent: readonly string[];
  readonly pulls: readonly IncidentPull[];
  /** When the runtime could not be reached. */
  readonly outages: readonly { readonly fromMs: number; readonly untilMs: number }[];
  /** When its stream of events broke although it could be reached. */
  readonly eventBreaks: readonly number[];
  readonly refusals: readonly IncidentRefusal[];
  readonly clockJumps: readonly { readonly atMs: number; readonly byMs: number }[];
  /** What the agent told the API of its pods. */
  readonly events: readonly IncidentEvent[];
  /** When the agent was told to stop its pods. */
  readonly stopAskedMs?: number;
}

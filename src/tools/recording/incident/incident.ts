import type { CriErrorCode } from '../../../model/cri/cri-error.js';
import type { TellingFacts } from '../../../model/node/node-facts.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { SourceObject } from '../../../model/references/source-object.js';
import type { ProbeType } from '../../../model/probes/probe-type.js';

/** The source adds, changes or removes the pod. Times are milliseconds since the recording began. */
export interface IncidentChange {
  readonly atMs: number;
  readonly pod?: Pod;
}

/** The changes of the pods of one name. */
export interface IncidentPod {
  readonly source: string;
  readonly namespace: string;
  readonly name: string;
  readonly changes: readonly IncidentChange[];
}

/** The changes of one ConfigMap or Secret of a source, which its pods may refer to; absent once it is gone. */
export interface IncidentObject {
  readonly source: string;
  readonly changes: readonly { readonly atMs: number; readonly object?: SourceObject }[];
}

export interface IncidentProbe {
  readonly type: ProbeType;
  /** When it was requested. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly ok: boolean;
}

export interface IncidentCommand {
  readonly command: readonly string[];
  readonly tookMs: number;
  readonly exitCode: number;
}

/** One instance of a container, as far as the recording shows it. */
export interface IncidentInstance {
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly attempt: number;
  /** The instance existed before the recording began. */
  readonly isAdopted: boolean;
  readonly startedMs?: number;
  /** The duration of StartContainer. */
  readonly startTookMs?: number;
  readonly startError?: string;
  /** The time of the first request to stop it. */
  readonly stopAskedMs?: number;
  /** Since the start. */
  readonly lifeMs?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly probes: readonly IncidentProbe[];
  /** A command that the agent ran in the container, such as a hook. */
  readonly commands: readonly IncidentCommand[];
}

export interface IncidentPull {
  readonly image: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly error?: string;
}

/** A pod of which the runtime had something before the recording began. */
export interface EarlierPod {
  readonly namespace: string;
  readonly pod: string;
  /** One of its containers ran when the recording began. */
  readonly isRunning: boolean;
}

/** A call of the runtime that failed. */
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

/** The world of a recording's agent, independent of the agent's decisions. */
export interface Incident {
  /** The begin of the recording, in Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The facts of the node. */
  readonly facts: TellingFacts;
  readonly options: {
    readonly eventedPleg: boolean;
    readonly syncFrequencyMs: number;
    readonly maxRestartBackOffMs: number;
    /** The number of images that are pulled at a time. */
    readonly parallelPulls: number;
  };
  /** The runtime has no stream of events. */
  readonly tellsNoEvents: boolean;
  readonly pods: readonly IncidentPod[];
  readonly objects: readonly IncidentObject[];
  /** In the order in which the agent has received them. */
  readonly instances: readonly IncidentInstance[];
  readonly earlierPods: readonly EarlierPod[];
  /** The durations of creating each sandbox. */
  readonly sandboxesTookMs: readonly number[];
  /** How much later than in a simulation something can have happened, because calls of the runtime were slow. */
  readonly slowMs: number;
  /** Images that existed without a pull. */
  readonly imagesPresent: readonly string[];
  readonly pulls: readonly IncidentPull[];
  /** The times when the runtime was unavailable. */
  readonly outages: readonly { readonly fromMs: number; readonly untilMs: number }[];
  /** The times when its stream of events broke although it was available. */
  readonly eventBreaks: readonly number[];
  readonly refusals: readonly IncidentRefusal[];
  readonly clockJumps: readonly { readonly atMs: number; readonly byMs: number }[];
  /** The statuses of pods that the agent wrote to the API. */
  readonly events: readonly IncidentEvent[];
  /** The time at which the agent was asked to stop its pods. */
  readonly stopAskedMs?: number;
}

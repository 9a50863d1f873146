import type { PodRef } from '../../model/pod/pod.js';

/**
 * Facts from a recording that the journal does not have, by the same clock. `id` is unique and no id of a journal
 * entry.
 */
export type Observation = {
  readonly id: string;
  readonly pod: PodRef;
} & (
  | {
      /** A call of the runtime, whether it changed or only read something. */
      readonly kind: 'call';
      readonly call: string;
      readonly container?: string;
      readonly from: number;
      /** Absent while the call is pending. */
      readonly until?: number;
      readonly error?: string;
      /** The error is an ordinary one, such as a missing object. */
      readonly isOrdinary?: boolean;
      /** The call was cancelled. */
      readonly isGivenUp?: boolean;
    }
  | {
      readonly kind: 'probe-result';
      readonly container: string;
      /**
       * The probe of the result: `readiness`, or its kind if several probes of the container are of this kind: `exec`.
       */
      readonly probe: string;
      readonly at: number;
      readonly result: 'success' | 'failure';
      readonly output?: string;
    }
  | {
      /** A due timer that concerns the pod. */
      readonly kind: 'timer';
      readonly at: number;
    }
);

/** The begins of relists, which are about no single pod. */
export interface Relist {
  readonly id: string;
  readonly at: number;
}

export interface Observed {
  readonly observations: readonly Observation[];
  readonly relists: readonly Relist[];
}

export type ObservationOf<Kind extends Observation['kind']> = Extract<Observation, { readonly kind: Kind }>;

/** The time or begin of an observation. */
export const beginOf = (observation: Observation): number =>
  observation.kind === 'call' ? observation.from : observation.at;

export const observationsOf = <Kind extends Observation['kind']>(
  { observations }: Observed,
  kind: Kind,
): readonly ObservationOf<Kind>[] => observations.filter((one): one is ObservationOf<Kind> => one.kind === kind);

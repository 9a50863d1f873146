import type { PodRef } from '../pod.js';

/** What a recording knows beyond the journal, by the same clock. `id` is unique and no id of a journal entry. */
export type Observation = {
  readonly id: string;
  readonly pod: PodRef;
} & (
  | {
      /** A call of the runtime, whether it changed something or only looked. */
      readonly kind: 'call';
      readonly call: string;
      readonly container?: string;
      readonly from: number;
      /** Absent while it is under way. */
      readonly until?: number;
      readonly error?: string;
      /** The error is one that is met in passing, such as that something has gone. */
      readonly isOrdinary?: boolean;
      /** It was no longer waited for. */
      readonly isGivenUp?: boolean;
    }
  | {
      readonly kind: 'probe-result';
      readonly container: string;
      /** Whose result it is: `readiness`, or how it asks where several probes of the container ask so: `exec`. */
      readonly probe: string;
      readonly at: number;
      readonly result: 'success' | 'failure';
      readonly output?: string;
    }
  | {
      /** A timer was due that had something to do with the pod. */
      readonly kind: 'timer';
      readonly at: number;
    }
);

/** Listings of all pods, which are about none of them: when each began. */
export interface Relist {
  readonly id: string;
  readonly at: number;
}

export interface Observed {
  readonly observations: readonly Observation[];
  readonly relists: readonly Relist[];
}

export type ObservationOf<Kind extends Observation['kind']> = Extract<Observation, { readonly kind: Kind }>;

/** When it was, or began. */
export const beginOf = (observation: Observation): number =>
  observation.kind === 'call' ? observation.from : observation.at;

export const observationsOf = <Kind extends Observation['kind']>(
  { observations }: Observed,
  kind: Kind,
): readonly ObservationOf<Kind>[] => observations.filter((one): one is ObservationOf<Kind> => one.kind === kind);

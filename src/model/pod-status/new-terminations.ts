import type { ContainerKind, ContainerStatus, PodStatus } from '../pod.js';

/** The end of one instance of a container. */
export interface Termination {
  readonly kind: ContainerKind;
  readonly exitCode: number;
  readonly reason: string;
}

/**
 * The instances of which `status` is the first to tell that they have ended. Without a status before it nobody knows what is
 * new, so nothing is.
 */
export const newTerminations = (previous: PodStatus | undefined, status: PodStatus): readonly Termination[] =>
  previous === undefined
    ? []
    : LISTS.flatMap(([kind, list]) => {
        const known = new Set((previous[list] ?? []).flatMap(endsOf).map(({ containerID }) => containerID));
        return (status[list] ?? [])
          .flatMap(endsOf)
          .filter(({ containerID }) => containerID !== undefined && !known.has(containerID))
          .map(({ exitCode, reason = '' }) => ({ kind, exitCode, reason }));
      });

const LISTS = [
  ['init', 'initContainerStatuses'],
  ['regular', 'containerStatuses'],
  ['ephemeral', 'ephemeralContainerStatuses'],
] as const satisfies readonly (readonly [ContainerKind, keyof PodStatus])[];

/** Of the instance before and of the one that counts, the older one first. */
const endsOf = ({ lastState, state }: ContainerStatus) =>
  [lastState?.terminated, state?.terminated].filter((end) => end !== undefined);

import type { ContainerKind, ContainerStatus, PodStatus } from '../pod/pod.js';

/** The end of one instance of a container. */
export interface Termination {
  readonly kind: ContainerKind;
  readonly exitCode: number;
  readonly reason: string;
}

/**
 * Returns the instances whose end `status` is the first to show. None without a status before, since it is unknown
 * which of them are new.
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

/** The last and the current instance, the older one first. */
const endsOf = ({ lastState, state }: ContainerStatus) =>
  [lastState?.terminated, state?.terminated].filter((end) => end !== undefined);

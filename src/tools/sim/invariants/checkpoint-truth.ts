import type { WorldEvent } from '../world/world-event.js';
import type { PodAmountsTruth } from './pod-amounts.js';

/** The amounts of a pod in a checkpoint, and since when it has them. */
export interface KeptTruth extends PodAmountsTruth {
  /** Virtual milliseconds. */
  readonly since: number;
  /** Until when; absent while it has them. */
  readonly until?: number;
}

/** The amounts of pods that the checkpoints of the agent have had, by UID, the newest last. */
export type KeptTruths = ReadonlyMap<string, readonly KeptTruth[]>;

/** The name of the checkpoint with what pods were given, and of the one with what their containers have. */
export const ALLOCATED = 'allocated_pods_state';
export const ACTUATED = 'actuated_pods_state';

interface Entry {
  readonly ContainerResources: PodAmountsTruth['containers'];
  readonly PodLevelResources: PodAmountsTruth['pod'] | null;
}

/** Adds the amounts of a checkpoint. */
export const keptAfter = (
  before: KeptTruths,
  { at, content }: Extract<WorldEvent, { readonly kind: 'checkpoint' }>,
): KeptTruths => {
  const { data = '{}' } = (content === undefined ? {} : JSON.parse(content)) as { readonly data?: string };
  const { entries = {} } = JSON.parse(data) as { readonly entries?: Readonly<Record<string, Entry>> };
  const ended = [...before].map(([uid, all]): [string, readonly KeptTruth[]] => [
    uid,
    all.map((one) => ({ until: at, ...one })),
  ]);
  const kept = new Map(ended);
  for (const [uid, { ContainerResources, PodLevelResources }] of Object.entries(entries))
    kept.set(uid, [
      ...(kept.get(uid) ?? []),
      { since: at, containers: ContainerResources, pod: PodLevelResources ?? undefined },
    ]);
  return kept;
};

/** Those that the checkpoint has had since then. */
export const keptSince = (kept: KeptTruths, uid: string, since: number): readonly KeptTruth[] =>
  (kept.get(uid) ?? []).filter(({ until }) => until === undefined || until >= since);

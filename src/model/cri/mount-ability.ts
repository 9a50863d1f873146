/** What a runtime that makes no mounts says of itself, in the JSON text `info` of its verbose status. */
export interface MountAbility {
  readonly mounts?: boolean;
}

/**
 * Whether the runtime can put files of this machine into containers, by the `info` of its verbose status. CRI expects it of every
 * runtime and has no word for one that cannot, so one has to say so expressly.
 */
export const canMount = (info: Readonly<Record<string, string>>): boolean => {
  if (info.info === undefined) return true;
  try {
    return (JSON.parse(info.info) as MountAbility | null)?.mounts !== false;
  } catch {
    return true;
  }
};

/** The entry by which a runtime declares that it makes no mounts, in the JSON text `info` of its verbose status. */
export interface MountAbility {
  readonly mounts?: boolean;
}

/**
 * Whether the runtime can mount files of this machine into containers, by the `info` of its verbose status. CRI expects
 * it of every runtime and has no field for a runtime that cannot, so such a runtime has to declare it here.
 */
export const canMount = (info: Readonly<Record<string, string>>): boolean => {
  if (info.info === undefined) return true;
  try {
    return (JSON.parse(info.info) as MountAbility | null)?.mounts !== false;
  } catch {
    return true;
  }
};

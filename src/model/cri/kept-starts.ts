/** The entry by which a runtime declares that it keeps starts, in the JSON text `info` of its verbose status. */
interface KeptStarts {
  readonly keepsStarts?: boolean;
}

/**
 * Whether the runtime has the start of a container on the disk before its process runs, by the `info` of its verbose status. CRI does not
 * promise it, so such a runtime has to declare it here.
 */
export const keepsStarts = (info: Readonly<Record<string, string>>): boolean => {
  if (info.info === undefined) return false;
  try {
    return (JSON.parse(info.info) as KeptStarts | null)?.keepsStarts === true;
  } catch {
    return false;
  }
};

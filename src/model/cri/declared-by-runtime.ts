/** What a runtime declares of itself in the JSON text `info` of its verbose status. CRI has no fields for it. */
interface Declarations {
  readonly keepsStarts?: boolean;
  readonly sharesNetwork?: boolean;
}

const declares = (name: keyof Declarations, { info }: Readonly<Record<string, string>>): boolean => {
  if (info === undefined) return false;
  try {
    return (JSON.parse(info) as Declarations | null)?.[name] === true;
  } catch {
    return false;
  }
};

/** Whether the runtime has the start of a container on the disk before its process runs, by the `info` of its verbose status. */
export const keepsStarts = (info: Readonly<Record<string, string>>): boolean => declares('keepsStarts', info);

/** Whether every pod has the network of the machine, by the `info` of the runtime's verbose status. */
export const sharesNetwork = (info: Readonly<Record<string, string>>): boolean => declares('sharesNetwork', info);

/** Returns the result of the first `read` for the key. */
export type ReadOnce = <T>(key: string, read: () => T) => T;

/**
 * Reads each object and field of one volume once: a pod may name the same one in thousands of files, and each of them would take the
 * time and the memory of the whole object. Errors of `read` pass.
 */
export const readOnce = (): ReadOnce => {
  const known = new Map<string, unknown>();
  return <T>(key: string, read: () => T): T => {
    if (!known.has(key)) known.set(key, read());
    return known.get(key) as T;
  };
};

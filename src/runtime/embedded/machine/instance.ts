import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { realpathSync } from './machine.js';

const MARK_BITS = 26;
const OWN_GROUP = 'rx-embedded';

/**
 * Distinguishes the processes of the runtime on one state directory from all others on the machine, so that it finds
 * its own processes even without a record.
 */
export interface Instance {
  /** The cgroup below which it makes its own, in every hierarchy. */
  readonly group: string;
  /** A value for `markedProcesses` that no other instance uses; the same for the same ID. */
  readonly markOf: (id: string) => string;
  readonly isOwnMark: (mark: string) => boolean;
}

/** The group of records without a group: those of an earlier version. */
export const SHARED_GROUP = OWN_GROUP;

const bitsOf = (hex: string): number => Number.parseInt(hex.slice(0, 8), 16) >>> (32 - MARK_BITS);

export const instanceOf = (stateDirectory: string): Instance => {
  const digest = createHash('sha256').update(realpathSync(stateDirectory)).digest('hex');
  const base = 2 ** 52 + bitsOf(digest) * 2 ** MARK_BITS;
  return {
    group: join(OWN_GROUP, digest.slice(0, 16)),
    markOf: (id) => String(base + bitsOf(id)),
    isOwnMark: (mark) => Number(mark) >= base && Number(mark) < base + 2 ** MARK_BITS,
  };
};

import { writeFileSync } from 'node:fs';
import type { SeededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import type { Access, Faults } from '../../../src/runtime/embedded/machine/machine.js';

/** What the kernel may say to each kind of access without a word about what was asked for. */
const ERRORS: Readonly<Record<Access, readonly string[]>> = {
  read: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EAGAIN'],
  write: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EAGAIN', 'ENOSPC'],
  spawn: ['EAGAIN', 'EMFILE', 'ENOMEM'],
  connect: ['EMFILE', 'ENOMEM', 'EAGAIN'],
};
const ACCESSES = Object.keys(ERRORS) as Access[];

const errnoError = (code: string, operation: string, target: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: injected, ${operation} '${target}'`), { code, syscall: operation, path: target });

export interface FaultPlan {
  readonly faults: Faults;
  readonly text: string;
  /** Every access that was made to fail so far. */
  readonly failed: readonly string[];
}

/**
 * Which accesses fail, as the seed says: a share of all or of one kind, or some in a row from the nth on, each with one errno or with any
 * that fits. A file below `stateDirectory` may be left empty by a write that fails, as on a full disk.
 */
export const faultPlan = (random: SeededRandom, stateDirectory: string): FaultPlan => {
  const kinds = random.chance(0.4) ? ACCESSES : [random.pick(ACCESSES.filter((access) => access !== 'connect'))];
  const one = random.chance(0.5) ? random.pick(kinds) : undefined;
  const errno = one && random.pick(ERRORS[one]);
  const share = random.pick([0.05, 0.2, 0.5, 1]);
  const row = random.chance(0.5)
    ? { from: random.integer(0, 120), length: random.pick([1, 1, 3, 20, 100]) }
    : undefined;
  const failed: string[] = [];
  let count = 0;
  const faults: Faults = (access, operation, target) => {
    if (!kinds.includes(access)) return;
    count += 1;
    const fails = row ? count > row.from && count <= row.from + row.length : random.chance(share);
    if (!fails) return;
    const code = errno !== undefined && ERRORS[access].includes(errno) ? errno : random.pick(ERRORS[access]);
    failed.push(`${access} ${operation} ${code}`);
    if (operation === 'writeFile' && code === 'ENOSPC' && target.startsWith(stateDirectory)) emptied(target);
    throw errnoError(code, operation, target);
  };
  const which = row ? `${row.length} from access ${row.from} on` : `${share * 100} %`;
  return { faults, failed, text: `${kinds.join('+')}: ${which}, ${errno ?? 'any errno'}` };
};

const emptied = (path: string): void => {
  try {
    writeFileSync(path, '', { flag: 'wx' });
  } catch {
    // It is there already, or its directory is not.
  }
};

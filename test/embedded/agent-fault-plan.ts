import type { SeededRandom } from '../../src/tools/sim/world/seeded-random.js';

const KINDS = ['read', 'write', 'spawn', 'connect'] as const;
type Kind = (typeof KINDS)[number];

/** Of each kind, and some that fit more than one. */
const ERRNOS: Readonly<Record<Kind, readonly string[]>> = {
  read: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EACCES', 'EAGAIN'],
  write: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EACCES', 'ENOSPC', 'EDQUOT', 'EROFS'],
  spawn: ['EAGAIN', 'EMFILE', 'ENOMEM'],
  connect: ['EMFILE', 'ENOMEM', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EAGAIN'],
};

/** The instructions of `faulty-machine.mjs`. */
export interface AgentFaultPlan {
  readonly seed: number;
  readonly kinds: readonly Kind[];
  /** For every access that it fits; any errno unless given. */
  readonly errno?: string;
  /** Of the accesses of these kinds. */
  readonly share: number;
  /** Instead: this number in a row. */
  readonly row?: { readonly from: number; readonly length: number };
}

/** Which accesses of the agent fail, as the seed says. */
export const agentFaultPlan = (random: SeededRandom): AgentFaultPlan => {
  const kinds = random.chance(0.5) ? KINDS : [random.pick(KINDS)];
  const errno = random.chance(0.5) ? random.pick(ERRNOS[random.pick(kinds)]) : undefined;
  const row = random.chance(0.3) ? { from: random.integer(0, 150), length: random.pick([1, 3, 20, 100]) } : undefined;
  return {
    seed: random.integer(1, 2 ** 31),
    kinds,
    share: random.pick([0.05, 0.2, 0.5, 1]),
    ...(errno !== undefined && { errno }),
    ...(row && { row }),
  };
};

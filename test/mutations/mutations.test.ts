import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { INVARIANTS } from '../../src/sim/invariants/invariants.js';
import { bundleSimulation } from './bundle.js';
import { hunt, type Hunted } from './hunt-order.js';
import { MUTANTS } from './mutants.js';

/** A bug that so many histories do not show would not be found by a night of them either. */
const MOST_SEEDS = 2_000;
const MINUTE = 60_000;

/** Does the tasks in order, as many at a time as there are processors. */
const sideBySide = <T>(tasks: readonly (() => Promise<T>)[]): readonly Promise<T>[] => {
  const lanes = Array.from({ length: Math.max(1, availableParallelism()) }, () => Promise.resolve<unknown>(undefined));
  return tasks.map((task, index) => {
    const lane = index % lanes.length;
    const done = lanes[lane]!.then(task, task);
    lanes[lane] = done.catch(() => undefined);
    return done;
  });
};

describe('a bug in the agent', () => {
  const hunts = sideBySide(
    MUTANTS.map(
      ({ edits }) =>
        async () =>
          hunt(await bundleSimulation(edits), { from: 1, to: MOST_SEEDS }),
    ),
  );
  const table: string[] = [];
  let last = 0;

  it.each(MUTANTS.map((mutant, index) => ({ ...mutant, hunt: hunts[index]! })))(
    'is found by an invariant: $name',
    async ({ name, hunt: hunted }) => {
      const { found, seeds }: Hunted = await hunted;
      expect(
        found,
        `${name} survives ${seeds} seeds: an invariant is missing, or no history comes that way`,
      ).toBeDefined();
      if (!found) return;
      const { seed, violation } = found;
      last = Math.max(last, seed);
      table.push(`seed ${String(seed).padStart(4)}  ${violation.invariant.padEnd(28)}${name}`);
      expect([...INVARIANTS.map((invariant) => invariant.name), 'no-crash', 'no-leak']).toContain(violation.invariant);
    },
    30 * MINUTE,
  );

  it(
    'is what they find: the agent as it is passes the same seeds',
    async () => {
      await Promise.allSettled(hunts);
      const { found } = await hunt(await bundleSimulation([]), { from: 1, to: last });
      expect(found).toBeUndefined();
    },
    30 * MINUTE,
  );

  afterAll(() => console.log(`planted bugs and what found them:\n${table.join('\n')}`));
});

describe('a planted bug', () => {
  it.each([
    ['a text that is gone', 'src/kubelet.ts', 'no such text', 'stands there 0 times'],
    ['a text that is not the only one', 'src/kubelet.ts', 'import ', 'times (expected once)'],
    ['a file that is not simulated', 'src/cli/main.ts', 'x', 'no part of the simulation'],
  ])('is refused with its place: %s', async (_, file, find, problem) => {
    await expect(bundleSimulation([{ file, find, replace: '' }])).rejects.toThrow(problem);
    await expect(bundleSimulation([{ file, find, replace: '' }])).rejects.toThrow(file);
  });
});

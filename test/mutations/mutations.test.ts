import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { INVARIANTS } from '../../src/tools/sim/invariants/invariants.js';
import { bundleSimulation } from './bundle.js';
import { hunt, type Hunted } from './hunt-order.js';
import { KNOWN_SEEDS } from './known-seeds.js';
import { type Mutant, MUTANTS } from './mutants.js';

/** A bug that this number of histories does not show would not be found by a night of them either. */
const MOST_SEEDS = 2_000;
/** Those of a cluster take longer, and have more in store; so have those of clocks, of lost power, of shutdowns and of shortages. */
const MOST_OTHER_SEEDS = { cluster: 400, clocks: 300, power: 300, shutdowns: 300, pressure: 300 } as const;
const MINUTE = 60_000;

/** The seed that is known to show the bug, and then all others. */
const seedsFor = ({ name, kind = 'node' }: Mutant): readonly number[] => {
  const known = KNOWN_SEEDS[name];
  const others = Array.from(
    { length: kind === 'node' ? MOST_SEEDS : MOST_OTHER_SEEDS[kind] },
    (_, index) => index + 1,
  ).filter((seed) => seed !== known);
  return known === undefined ? others : [known, ...others];
};

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
      (mutant) => async () =>
        hunt(await bundleSimulation(mutant.edits), { seeds: seedsFor(mutant), kind: mutant.kind ?? 'node' }),
    ),
  );
  const table: string[] = [];
  const outdated: string[] = [];
  const shown = {
    node: new Set<number>(),
    cluster: new Set<number>(),
    clocks: new Set<number>(),
    power: new Set<number>(),
    shutdowns: new Set<number>(),
    pressure: new Set<number>(),
  };

  it.each(MUTANTS.map((mutant, index) => ({ ...mutant, hunt: hunts[index]! })))(
    'is found by an invariant: $name',
    async ({ name, kind = 'node', hunt: hunted }) => {
      const { found, seeds }: Hunted = await hunted;
      expect(
        found,
        `${name} survives ${seeds} seeds: an invariant is missing, or no history comes that way`,
      ).toBeDefined();
      if (!found) return;
      const { seed, violation } = found;
      shown[kind].add(seed);
      if (seed !== KNOWN_SEEDS[name]) outdated.push(`  ${JSON.stringify(name)}: ${seed},`);
      table.push(`seed ${String(seed).padStart(4)}  ${violation.invariant.padEnd(28)}${name}`);
      expect([...INVARIANTS.map((invariant) => invariant.name), 'no-crash', 'no-leak']).toContain(violation.invariant);
    },
    30 * MINUTE,
  );

  it.each(['node', 'cluster', 'clocks', 'power', 'shutdowns', 'pressure'] as const)(
    'is what they find: the agent as it is passes the same seeds (%s)',
    async (kind) => {
      await Promise.allSettled(hunts);
      const order = { seeds: [...shown[kind]], kind };
      const { found } = await hunt(await bundleSimulation([]), order);
      expect(found).toBeUndefined();
    },
    30 * MINUTE,
  );

  afterAll(() => {
    console.log(`planted bugs and what found them:\n${table.join('\n')}`);
    if (outdated.length === 0) return;
    console.log(`out of date in test/mutations/known-seeds.ts, so that the hunt took longer:\n${outdated.join('\n')}`);
  });
});

it('has no seed in the list of known ones that no planted bug is for', () => {
  const names = new Set(MUTANTS.map(({ name }) => name));
  expect(Object.keys(KNOWN_SEEDS).filter((name) => !names.has(name))).toEqual([]);
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

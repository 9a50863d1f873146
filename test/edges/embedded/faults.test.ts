import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FaultStage } from './fault-stage.js';

/** `FAULT_RUNS=2000 FAULT_SEED=1 npx vitest run test/edges/embedded/faults.test.ts` runs two thousand, from that seed on. */
const RUNS = Number(process.env['FAULT_RUNS'] ?? 12);
const FIRST = Number(process.env['FAULT_SEED'] ?? 1);
const SLOW_MACHINE_MS = 60_000 + RUNS * 30_000;

const embedded = fileURLToPath(new URL('../../../src/runtime/embedded/', import.meta.url));
const stage = new FaultStage();
beforeAll(() => stage.open());
afterAll(() => stage.close());

it(
  `hurts nothing that is well in ${RUNS} runs with files and processes that fail, from seed ${FIRST} on`,
  async () => {
    const broken: string[] = [];
    for (let seed = FIRST; seed < FIRST + RUNS && broken.length < 1; seed += 1)
      await stage.run(seed).catch((error: unknown) => broken.push(String(error)));
    expect(broken.join('\n\n')).toBe('');
    const faults = [...stage.failed.values()].reduce((sum, count) => sum + count, 0);
    expect(faults).toBeGreaterThan(RUNS);
    if (RUNS > 20) {
      const recovery = `all as it should be ${(stage.longestRecoveryMs / 1000).toFixed(1)} s after the end of the faults at the latest`;
      console.log(`${RUNS} runs, ${faults} faults of ${stage.failed.size} kinds; ${recovery}`);
    }
  },
  SLOW_MACHINE_MS,
);

it('can put a fault into every access: no file of the runtime goes past machine.ts', () => {
  const past = readdirSync(embedded, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith('.ts') && file !== 'machine/machine.ts')
    .filter((file) =>
      /^import (?!type )[^;]*from 'node:(fs|fs\/promises|child_process)'/m.test(
        readFileSync(`${embedded}${file}`, 'utf8'),
      ),
    );
  expect(past).toEqual([]);
});

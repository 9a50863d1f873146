import { describe, expect, it } from 'vitest';
import { StateStore } from '../../../src/runtime/embedded/state/state-store.js';
import { dice, SEED } from '../../embedded/seeded.js';
import { atEachLoss, canTrace } from '../../support/power-loss/traced-program.js';

const SLOW_MACHINE_MS = 300_000;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const STATES = ['created', 'starting', 'running', 'exited'];

const PROGRAM = `
  import { appendFileSync } from 'node:fs';
  import { StateStore } from './src/runtime/embedded/state/state-store.ts';
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const isDurable = ({ state }) => state === 'starting' || state === 'exited';
  const store = new StateStore(process.env.DIR + '/state/things', 'thing.json', silent, isDurable);
  const thing = { id: 'a', record: { id: 'a', state: ${JSON.stringify(STATES[0])} } };
  store.saveNew(thing.record);
  const done = (state) => appendFileSync(process.env.DONE, state + '\\n');
  done(thing.record.state);
  for (const state of ${JSON.stringify(STATES.slice(1))}) {
    await store.save(thing, (record) => ({ ...record, state }));
    done(state);
  }
`;

describe.runIf(canTrace)('a record of the runtime', () => {
  it(
    'is whole from its first durable state on, and never behind the last one, when the power goes at any moment',
    async () => {
      const count = await atEachLoss(PROGRAM, dice(SEED).between, async ({ directory, done, text }) => {
        const store = new StateStore<{ id: string; state?: string }>(
          `${directory}/state/things`,
          'thing.json',
          silent,
          () => false,
        );
        const { entries, broken } = await store.load();
        if (!done.includes('starting')) return;
        expect(broken, text).toEqual([]);
        const least = done.includes('exited') ? 'exited' : 'starting';
        expect(STATES.slice(STATES.indexOf(least)), text).toContain(entries[0]?.state);
      });
      expect(count).toBeGreaterThan(100);
    },
    SLOW_MACHINE_MS,
  );
});

import { describe, expect, it } from 'vitest';
import { INVARIANTS } from '../../../src/tools/sim/invariants/invariants.js';
import { watchInvariants } from '../../../src/tools/sim/invariants/watch-invariants.js';
import { clockRows } from './rows/clock-rows.js';
import { clusterRows } from './rows/cluster-rows.js';
import { endRows } from './rows/ends-rows.js';
import { powerRows } from './rows/power-rows.js';
import { PRESSURE, pressureRows } from './rows/pressure-rows.js';
import { roomRows } from './rows/room-rows.js';
import { shutdownRows } from './rows/shutdown-rows.js';
import { statusRows } from './rows/status-rows.js';
import { truthRows } from './rows/truth-rows.js';
import { waitRows } from './rows/waits-rows.js';
import { wishRows } from './rows/wishes-rows.js';
import { workRows } from './rows/work-rows.js';
import { END, type Rows } from './story.js';

const ROWS: Rows = {
  ...workRows,
  ...wishRows,
  ...endRows,
  ...waitRows,
  ...statusRows,
  ...truthRows,
  ...clusterRows,
  ...clockRows,
  ...powerRows,
  ...shutdownRows,
  ...pressureRows,
  ...roomRows,
};

describe.each(INVARIANTS)('$name', (invariant) => {
  const rows = ROWS[invariant.name] ?? [];
  it('has stories that violate it and stories that come close', () => {
    expect(rows.some(([, , says]) => says !== undefined)).toBe(true);
    expect(rows.some(([, , says]) => says === undefined)).toBe(true);
  });

  it.each(rows.map(([what, story, says]) => ({ what, story, says })))('$what', ({ story, says }) => {
    const shutdownGroups = [
      { priority: 0, graceSeconds: 10 },
      { priority: 1_000, graceSeconds: 5 },
    ];
    const settings = { imageMaxAgeMs: 1_200_000, shutdownGroups, eviction: PRESSURE, podCapacity: 2 };
    const watch = watchInvariants([invariant], settings);
    const events = story.flat(2);
    const found = [...events.flatMap((event) => watch.tell(event)), ...watch.end({ at: END * 1000, quietSince: 0 })];
    const messages = found.map(({ message }) => message);
    if (says === undefined) expect(messages).toEqual([]);
    else expect(messages[0]).toContain(says);
    for (const violation of found) expect(violation.invariant).toBe(invariant.name);
  });
});

it('has rows for invariants that there are, and for no others', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(INVARIANTS.map(({ name }) => name).toSorted());
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import type { History } from '../../../src/tools/sim/histories/history.js';

const FOLDER = new URL('found/', import.meta.url);

describe('a history that a seed has found and that was made as short as it goes', () => {
  it.each(readdirSync(FOLDER))('goes well: %s', (name) => {
    const history = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as History;
    expect(runHistory(history).violations).toEqual([]);
  });
});

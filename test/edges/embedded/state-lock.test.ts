import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockState } from '../../../src/runtime/embedded/state-lock.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('lets one in of many that come at the same time, and another one once that has left', async () => {
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockState(directory)));
  const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(locks).toHaveLength(1);
  await expect(lockState(directory)).rejects.toThrow(
    `another runtime (process ${process.pid}) already uses ${directory}`,
  );
  locks[0]?.();
  const unlock = await lockState(directory);
  unlock();
});

import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { diskSpace } from '../../../src/host/facts/disk-space.js';

it('is what df says', async () => {
  const [, size] = execFileSync('df', ['-B1', '--output=size', tmpdir()], { encoding: 'utf8' }).trim().split('\n');
  const { capacityBytes, availableBytes } = await lastValueFrom(diskSpace(tmpdir()));
  expect(capacityBytes).toBe(BigInt(size?.trim() ?? ''));
  expect(availableBytes).toBeGreaterThan(0n);
  expect(availableBytes).toBeLessThanOrEqual(capacityBytes);
});

it('is that of a folder that there is', async () => {
  await expect(lastValueFrom(diskSpace('/no/such/folder'))).rejects.toThrow(/ENOENT.*\/no\/such\/folder/);
});

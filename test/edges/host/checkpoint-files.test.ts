import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkpointFiles } from '../../../src/host/files/checkpoint-files.js';

const NAME = 'allocated_pods_state';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'checkpoints-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (directory = root) => lastValueFrom(checkpointFiles(directory).read(NAME));
const write = (content: string, directory = root) =>
  lastValueFrom(checkpointFiles(directory).write(NAME, content), { defaultValue: undefined });

it('a checkpoint is replaced as a whole, for the agent alone', async () => {
  expect(await read()).toBeUndefined();
  await write('one');
  const before = statSync(join(root, NAME)).ino;
  await write('two');
  expect(await read()).toBe('two');
  expect(statSync(join(root, NAME)).ino).not.toBe(before);
  expect(statSync(join(root, NAME)).mode & 0o777).toBe(0o600);
  expect(readdirSync(root)).toEqual([NAME]);
  expect(checkpointFiles(root).pathOf(NAME)).toBe(join(root, NAME));
});

it('a checkpoint that cannot be read or written is an error', async () => {
  writeFileSync(join(root, 'file'), '');
  const below = join(root, 'file', 'below');
  await expect(read(below)).rejects.toThrow(/ENOTDIR/);
  await expect(write('', below)).rejects.toThrow(/ENOTDIR|EEXIST/);
});

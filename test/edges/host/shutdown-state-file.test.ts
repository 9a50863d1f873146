import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shutdownStateFile } from '../../../src/host/files/shutdown-state-file.js';
import type { ShutdownState } from '../../../src/model/shutdown/shutdown-state.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'shutdown-state-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const path = () => join(root, 'graceful_node_shutdown_state');
const read = () => lastValueFrom(shutdownStateFile(root).read());
const write = (state: ShutdownState) =>
  lastValueFrom(shutdownStateFile(root).write(state), { defaultValue: undefined });

it('the newest shutdown is there for a later agent', async () => {
  expect(await read()).toEqual({});
  await write({ startedAt: 1_000 });
  expect(await read()).toEqual({ startedAt: 1_000 });
  const before = statSync(path()).ino;
  await write({ startedAt: 1_000, endedAt: 2_000 });
  expect(await read()).toEqual({ startedAt: 1_000, endedAt: 2_000 });
  expect(statSync(path()).ino).not.toBe(before);
  expect(readdirSync(root)).toEqual(['graceful_node_shutdown_state']);
  expect(readFileSync(path(), 'utf8')).toBe(
    '{"startTime":"1970-01-01T00:00:01.000Z","endTime":"1970-01-01T00:00:02.000Z"}\n',
  );
});

it.each(['', '{"half', '[]', '{"endTime":"soon"}'])('an error about the content %j names the file', async (text) => {
  writeFileSync(path(), text);
  await expect(read()).rejects.toThrow(path());
});

it('a file that cannot be read or written is an error', async () => {
  const below = shutdownStateFile(join(path(), 'below'));
  writeFileSync(path(), '');
  await expect(lastValueFrom(below.read())).rejects.toThrow(/ENOTDIR/);
  await expect(lastValueFrom(below.write({}))).rejects.toThrow(/ENOTDIR|EEXIST/);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';

const MODULE = new URL('../../../src/cli/runtime/inherited-descriptors.ts', import.meta.url).href;
/** Prints those of a process with three files from 3 on. */
const SCRIPT = `
  const { inheritedDescriptors, closeDescriptors } = await import(${JSON.stringify(MODULE)});
  const { fstatSync } = await import('node:fs');
  const found = inheritedDescriptors().filter((descriptor) => descriptor <= 5);
  closeDescriptors(found);
  const isOpen = (descriptor) => { try { fstatSync(descriptor); return true; } catch { return false; } };
  console.log(JSON.stringify([found, [3, 4, 5].filter(isOpen)]));`;

it.each<[what: string, variables: string, found: readonly number[], left: readonly number[]]>([
  ['without socket activation, all', ':', [3, 4, 5], []],
  ['with it, those that it has not handed over', 'export LISTEN_PID=$$ LISTEN_FDS=2', [5], [3, 4]],
  ['with that of another process, all', 'export LISTEN_PID=1 LISTEN_FDS=2', [3, 4, 5], []],
  ['with none handed over, all', 'export LISTEN_PID=$$ LISTEN_FDS=0', [3, 4, 5], []],
])('a process closes what it was started with: %s', async (_, variables, found, left) => {
  const folder = mkdtempSync(join(tmpdir(), 'inherited-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = [3, 4, 5].map((number) => openSync(join(folder, String(number)), 'a'));
  const node = ['--import', 'tsx', '--input-type=module', '-e', SCRIPT];
  // The shell becomes Node, so that its process is the one that was activated.
  const child = spawn('/bin/sh', ['-c', `${variables}; exec "$@"`, 'sh', process.execPath, ...node], {
    stdio: ['ignore', 'pipe', 'inherit', ...files],
  });
  for (const file of files) closeSync(file);
  const [said] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
  expect(JSON.parse(said)).toEqual([found, left]);
});

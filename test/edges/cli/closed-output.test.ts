import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJournal } from '../../../src/journal/journal-reader.js';
import { useAgentChild } from './bundled-child.js';

const agentChild = useAgentChild();

let folder = '';
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'closed-output-'));
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: app, image: "i:1"}]}\n';
  writeFileSync(join(folder, 'good.yaml'), pod);
  writeFileSync(join(folder, 'bad.yaml'), pod.replace('image', 'imge'));
  mkdirSync(join(folder, 'journal'));
  mkdirSync(join(folder, 'pod-logs', 'default_web_u1', 'app'), { recursive: true });
  writeFileSync(join(folder, 'pod-logs', 'default_web_u1', 'app', '0.log'), '2026-01-31T12:00:00Z stdout F a\n');
  const entries = [
    { id: 'a-1', at: 1000, causes: [], kind: 'agent-started', version: '1', node: 'n' },
    { id: 'a-2', at: 2000, causes: [], kind: 'config', op: 'ADD', source: 'file', pod: POD },
  ];
  writeFileSync(
    join(folder, 'journal', 'journal.jsonl'),
    entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
  );
});
afterEach(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

const POD = { name: 'web', namespace: 'default', uid: 'u1' };

const start = (args: readonly string[], stdout: 'pipe' | number = 'pipe') => {
  const child = spawn(process.execPath, [agentChild(), ...args], { stdio: ['ignore', stdout, 'pipe'] });
  children.push(child);
  return child;
};

const stderrOf = ({ stderr }: ChildProcess) => {
  if (!stderr) throw new Error('standard error is a pipe');
  return stderr;
};

describe('a command whose output is closed', () => {
  it.each([
    ['--help', 0],
    ['run --help', 0],
    ['validate good.yaml', 0],
    ['validate bad.yaml', 1],
    ['why web --root-dir .', 0],
    ['timeline web --root-dir .', 0],
    ['timeline web --root-dir . -o html', 0],
    ['plan good.yaml', 0],
    ['logs web --root-dir .', 0],
  ])('ends without a word: %s', async (line, expected) => {
    const child = start(line.split(' ').map((part) => (/^\.$|\.yaml$/.test(part) ? join(folder, part) : part)));
    child.stdout?.destroy();
    const [stderr, exit] = await Promise.all([text(stderrOf(child)), once(child, 'exit')]);
    const [code] = exit as [number];
    expect({ stderr, code }).toEqual({ stderr: '', code: expected });
  });

  it('says in one line that the disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = start(['validate', join(folder, 'good.yaml')], full);
    closeSync(full);
    const [stderr, exit] = await Promise.all([text(stderrOf(child)), once(child, 'exit')]);
    const [code] = exit as [number];
    expect({ stderr, code }).toEqual({
      stderr: expect.stringMatching(/^Error: cannot write: .*ENOSPC.*\n$/) as string,
      code: 1,
    });
  });
});

describe('run', () => {
  const agent = async () => {
    const flags = ['--root-dir', folder, '--healthz-port=0', '--container-runtime-endpoint=unix:///none'];
    const child = start(['run', ...flags]);
    let seen = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (part: Buffer) => {
        seen += part.toString();
        if (seen.includes('the loop runs')) resolve();
      });
      child.on('exit', () => reject(new Error(`it ended: ${seen}`)));
    });
    return child;
  };
  const lastReason = () => readJournal(join(folder, 'journal')).entries.at(-1);

  it('stops when no process reads its log any more', async () => {
    const child = await agent();
    child.stderr?.destroy();
    // Its next line finds the pipe closed.
    child.kill('SIGUSR2');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'agent.json'))).toBe(false);
    expect(lastReason()).toMatchObject({ kind: 'agent-stopping', reason: 'its output is closed' });
  });

  it('stops on SIGHUP as on SIGTERM, and is asked once however often it is said', async () => {
    const child = await agent();
    child.kill('SIGHUP');
    child.kill('SIGHUP');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'agent.json'))).toBe(false);
    expect(lastReason()).toMatchObject({ kind: 'agent-stopping', reason: 'SIGHUP' });
  });

  it('opens no debugger on SIGUSR1', async () => {
    const child = await agent();
    const said = text(stderrOf(child));
    child.kill('SIGUSR1');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(await said).not.toContain('Debugger listening');
  });
});

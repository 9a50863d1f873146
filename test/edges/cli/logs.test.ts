import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../embedded/eventually.js';
import { criLine } from '../../support/memory-logs.js';
import { useAgentChild } from './bundled-child.js';

const agentChild = useAgentChild();

let root = '';
let children: ChildProcess[] = [];
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'cli-logs-'))));
afterEach(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  children = [];
  rmSync(root, { recursive: true, force: true });
});

/** Writes the log of an instance; its path. */
const write = (pod: string, file: string, ...lines: readonly string[]): string => {
  const path = join(root, 'pod-logs', pod, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => criLine(line)).join(''));
  return path;
};

const journal = (...entries: readonly object[]): void => {
  mkdirSync(join(root, 'journal'));
  const lines = entries.map((entry, index) => JSON.stringify({ id: `a-${index}`, at: 0, causes: [], ...entry }));
  writeFileSync(join(root, 'journal', 'journal.jsonl'), `${lines.join('\n')}\n`);
};

const start = (args: readonly string[]) => {
  const child = spawn(process.execPath, [agentChild(), 'logs', ...args, '--root-dir', root], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
};

const logs = async (...args: readonly string[]) => {
  const child = start(args);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
};
const printed = (stdout: string, stderr = '') => ({ code: 0, stdout, stderr });
const refused = (message: string) => ({ code: 1, stdout: '', stderr: `Error: ${message}\n` });

describe('logs without an agent and without a runtime', () => {
  it('finds a pod by each of its names, and a static one without that of the node', async () => {
    journal({ kind: 'agent-started', version: '1', node: 'node1' });
    write('default_web-node1_u1', 'main/0.log', 'a', 'b');
    for (const name of ['web-node1', 'web', 'web-node1_default', 'u1', 'pod/web']) {
      expect(await logs(name), name).toEqual(printed('a\nb\n'));
    }
    expect(await logs('web', 'main', '--tail', '1')).toEqual(printed('b\n'));
    expect(await logs('web', '-c', 'main', '-n=default', '--tail=1', '--timestamps')).toEqual(
      printed('2026-01-31T12:00:00.000000000Z b\n'),
    );
    expect(await logs('wep')).toEqual(refused('pods "wep" not found; pods here: web-node1_default'));
    expect(await logs('web', '-n', 'other')).toEqual(
      refused('pods "web" not found in namespace "other"; pods here: web-node1_default'),
    );
    expect(await logs('web', 'side')).toEqual(
      refused('container side is not valid for pod web-node1, choose one of: [main]'),
    );
  });

  it('prints the newest instance, or the one before it', async () => {
    write('default_web_u1', 'main/8.log', 'eight');
    write('default_web_u1', 'main/9.log.20260131-120000', 'rotated');
    write('default_web_u1', 'main/9.log', 'nine');
    write('default_web_u1', 'main/10.log', 'ten');
    write('default_once_u2', 'main/0.log', 'one');
    expect(await logs('web')).toEqual(printed('ten\n'));
    expect(await logs('web', '-p')).toEqual(printed('nine\n'));
    expect(await logs('once', '--previous')).toEqual(
      refused('previous terminated container "main" in pod "once" not found'),
    );
  });

  it('prints the newest of several pods of a name', async () => {
    utimesSync(write('default_web_u1', 'main/0.log', 'of now'), 2_000, 2_000);
    utimesSync(write('default_web_u2', 'main/7.log', 'of before'), 1_000, 1_000);
    expect(await logs('web')).toEqual(printed('of now\n'));
    expect(await logs('u2')).toEqual(printed('of before\n'));
  });

  it('prints the container that was started first, and names the others', async () => {
    const pod = { name: 'web', namespace: 'default', uid: 'u1' };
    const because = '';
    journal(
      { kind: 'actions', pod, actions: [{ action: 'start-init', container: 'init', because }] },
      {
        ...{ kind: 'actions', pod },
        actions: ['web', 'side'].map((container) => ({ action: 'start', container, because })),
      },
    );
    for (const container of ['init', 'side', 'web']) write('default_web_u1', `${container}/0.log`, container);
    expect(await logs('web')).toEqual(printed('web\n', 'Defaulted container "web" out of: web, side, init (init)\n'));
    expect(await logs('web', 'init')).toEqual(printed('init\n'));
    expect(await logs('web', '-c', 'other')).toEqual(
      refused(
        'container other is not valid for pod web, choose one of: [web side] or one of the init containers: [init]',
      ),
    );
  });

  it('refuses flags that contradict each other, or have no value of theirs', async () => {
    write('default_web_u1', 'main/0.log', 'a');
    expect(await logs('web', 'main', '-c', 'main')).toEqual(
      refused('only one of -c or an inline [CONTAINER] arg is allowed'),
    );
    expect(await logs('web', '--since=1m', '--since-time=2026-01-31T12:00:00Z')).toEqual(
      refused('at most one of `sinceTime` or `sinceSeconds` may be specified'),
    );
    expect(await logs('web', '--tail=few')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('expected a whole number') as string,
    });
    expect(await logs()).toMatchObject({ code: 1, stderr: expect.stringContaining('POD') as string });
  });

  it('takes another folder of logs', async () => {
    write('default_web_u1', 'main/0.log', 'a');
    const elsewhere = join(root, 'elsewhere');
    mkdirSync(elsewhere);
    expect(await logs('web', '--pod-logs-dir', elsewhere)).toEqual(
      refused('pods "web" not found; there is no pod here'),
    );
    expect(await logs('web', '--pod-logs-dir', join(root, 'pod-logs'))).toEqual(printed('a\n'));
  });

  it('limits its output, by time, bytes and stream', async () => {
    const path = write('default_web_u1', 'main/0.log', 'old');
    appendFileSync(path, `${new Date().toISOString()} stderr F new\n`);
    expect(await logs('web', '--since', '1h')).toEqual(printed('new\n'));
    expect(await logs('web', '--since-time', '2026-01-31T12:00:00Z')).toEqual(printed('old\nnew\n'));
    expect(await logs('web', '--limit-bytes', '5')).toEqual(printed('old\nn'));
    expect(await logs('web', '--stream', 'stdout')).toEqual(printed('old\n'));
  });

  it('follows the log, since the container may run, until it is interrupted', async () => {
    const path = write('default_web_u1', 'main/0.log', 'a');
    const child = start(['web', '-f']);
    let seen = '';
    child.stdout.on('data', (part: Buffer) => (seen += part.toString()));
    await eventually('its first line', () => seen === 'a\n');
    appendFileSync(path, criLine('b'));
    await eventually('its second line', () => seen === 'a\nb\n');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([null, 'SIGINT']);
  });

  it('ends without a message when the output of a log that is followed is closed', async () => {
    const path = write('default_web_u1', 'main/0.log', 'a');
    const child = start(['web', '-f']);
    const stderr = text(child.stderr);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const exit = once(child, 'exit');
    appendFileSync(path, criLine('b'));
    expect([await exit, await stderr]).toEqual([[0, null], '']);
  });
});

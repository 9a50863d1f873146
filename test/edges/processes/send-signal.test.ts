import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pidsInCgroup } from '../../../src/processes/cgroup-procs.js';
import { isProcess, sendSignal, sendSignalOrThrow } from '../../../src/processes/send-signal.js';

afterEach(() => vi.restoreAllMocks());

/** Stands in for kill(2): a wrong call would end this test and all others. */
const killCalls = (answer: () => true = () => true) => vi.spyOn(process, 'kill').mockImplementation(answer);
const failed = (code: string) => (): true => {
  throw Object.assign(new Error(`kill ${code}`), { code });
};
const ended = (): number => spawnSync('true').pid;

describe('a number that is none of a single process', () => {
  const numbers = [0, -0, -1, -2, 1, 1.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, Number('')];
  const others = [undefined, null, '', '17', [17], {}] as unknown as readonly number[];

  it.each([...numbers, ...others])('gets no signal: %s', (pid) => {
    const calls = killCalls();
    expect(sendSignal(pid, 'SIGKILL')).toBe(false);
    expect(sendSignalOrThrow(pid, 'SIGKILL')).toBe(false);
    expect(calls).not.toHaveBeenCalled();
  });

  it.each([...numbers.filter((pid) => pid !== 1), ...others])('is no process: %s', (pid) => {
    const calls = killCalls();
    expect(isProcess(pid)).toBe(false);
    expect(calls).not.toHaveBeenCalled();
  });
});

it('asks of process 1, such as an agent in a container, whether it exists', () => {
  expect(isProcess(1)).toBe(true);
});

it('signals a process, and returns false for one that has ended', async () => {
  const child = spawn('sleep', ['2147483'], { stdio: 'ignore' });
  const exit = once(child, 'exit');
  expect(isProcess(child.pid!)).toBe(true);
  expect(sendSignal(child.pid!, 'SIGTERM')).toBe(true);
  expect(await exit).toEqual([null, 'SIGTERM']);
  const pid = ended();
  expect([isProcess(pid), sendSignal(pid, 'SIGTERM'), sendSignalOrThrow(pid, 'SIGTERM')]).toEqual([
    false,
    false,
    false,
  ]);
});

it.each(['EPERM', 'EINVAL'])('distinguishes %s from a process that has ended', (code) => {
  killCalls(failed(code));
  expect(() => sendSignalOrThrow(17, 'SIGKILL')).toThrow(code);
  expect(sendSignal(17, 'SIGKILL')).toBe(false);
  // A process of another user is one, too.
  expect(isProcess(17)).toBe(code === 'EPERM');
});

it.each([
  ['', []],
  ['0\n', []],
  ['17\n0\n18\n', [17, 18]],
  ['1\n-1\nx\n\n19', [19]],
])('reads %j as the processes %j', (text, pids) => {
  expect(pidsInCgroup(text)).toEqual(pids);
});

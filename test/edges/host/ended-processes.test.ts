import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { childrenOf, isAlive, processId } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { killProcess } from '../../support/kill-process.js';
import { eventually, isRoot } from '../embedded/runtime-under-test.js';

const begin = (program: string, ...args: readonly string[]) => {
  const child = spawn(program, args, { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
};

const stateOf = (pid: number): string | undefined => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];

it.runIf(isRoot)(
  'the first process of a namespace has ended once it is killed, also while no process reaps a zombie of the namespace',
  async () => {
    const namespace = begin('unshare', '--pid', '--fork', 'sleep', '2147483647');
    const first = await eventually('the namespace has a process', () => {
      const [child] = childrenOf(namespace.pid!);
      return child !== undefined && readFileSync(`/proc/${child}/comm`, 'utf8') === 'sleep\n'
        ? processId(child)
        : undefined;
    });
    // Its children are in the namespace, and it reaps none of them.
    const careless = begin(
      'nsenter',
      '--target',
      `${first.pid}`,
      '--pid',
      '--no-fork',
      'sh',
      '-c',
      'true & exec sleep 2147483647',
    );
    const zombie = await eventually('a zombie is in the namespace', () => {
      const [child] = childrenOf(careless.pid!);
      return child !== undefined && stateOf(child) === 'Z' ? processId(child) : undefined;
    });
    expect(isAlive(first)).toBe(true);
    expect(isAlive(zombie)).toBe(false);

    killProcess(first.pid);
    await eventually('the first process is known to have ended', () => !isAlive(first));
    await eventually('it waits for the zombie', () => stateOf(first.pid) === 'S');
  },
);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processId, sessionProcesses, usesPath } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { killProcess } from '../../support/kill-process.js';
import { eventually } from './runtime-under-test.js';

const yes = () => true;
const no = () => false;

/** A session whose leader starts another process, writes the number of that, and ends or stays. */
const session = async (end: string) => {
  const script = `sleep 2147483 <&0 >/dev/null & echo $!; ${end}`;
  const shell = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(shell, 'exit');
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const member = Number(line.toString());
  onTestFinished(() => killProcess(member));
  return { pid: shell.pid!, member, exit };
};

describe('the processes of a session', () => {
  it('are found while its leader lives, and are those of a stranger for another leader with its number', async () => {
    const { pid, member } = await session('wait');
    const leader = processId(pid)!;
    expect(sessionProcesses(leader, no).toSorted()).toEqual([pid, member].toSorted());
    expect(sessionProcesses({ ...leader, startTime: '1' }, yes)).toEqual([]);
  });

  it('are recognized by one of them after the end of the leader', async () => {
    const { pid, member, exit } = await session('exit');
    await exit;
    const leader = { pid, startTime: '1' };
    expect(sessionProcesses(leader, (one) => one === member)).toEqual([member]);
    expect(sessionProcesses(leader, no)).toEqual([]);
  });
});

it('finds a path in the arguments and the standard streams of a process', async () => {
  const { pid, member } = await session('wait');
  expect(usesPath(pid, 'sleep 2147483')).toBe(true);
  await eventually('its streams are set', () => usesPath(member, '/dev/null'));
  expect(usesPath(member, '/dev/full')).toBe(false);
  expect(usesPath(2 ** 22 + 1, '/dev/null')).toBe(false);
});

import { expect, it } from 'vitest';
import { oomKills, systemOomMessage } from '../../../src/model/node/system-oom.js';

const record = (message: string, number = 1): string => `6,${number},5140900,-;${message}`;
const GLOBAL =
  'oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=python,pid=321,uid=0';
const OF_MEMCG =
  'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/kubepods/a,task_memcg=/kubepods/a/b,task=python,pid=321,uid=0';
const FIGURES =
  'total-vm:1460016kB, anon-rss:1414008kB, file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:72kB oom_score_adj:0';

it.each<[what: string, messages: readonly string[], kills: readonly unknown[]]>([
  [
    'the memory of the machine',
    ['python invoked oom-killer: gfp_mask=0x6000c0', GLOBAL, `Out of memory: Killed process 321 (python) ${FIGURES}`],
    [{ process: 'python', pid: 321, isOfSystem: true }],
  ],
  [
    'the memory of a cgroup',
    [OF_MEMCG, `Memory cgroup out of memory: Killed process 321 (python) ${FIGURES}`],
    [{ process: 'python', pid: 321, isOfSystem: false }],
  ],
  [
    'the memory of a cgroup, in the words of an older kernel',
    [
      'Memory cgroup out of memory: Kill process 321 (python) score 1974 or sacrifice child',
      `Killed process 321 (python) ${FIGURES}`,
    ],
    [{ process: 'python', pid: 321, isOfSystem: false }],
  ],
  [
    'the memory of the machine, in the words of an older kernel, for a name with brackets',
    ['Out of memory: Kill process 7 (a (b)) score 9 or sacrifice child', `Killed process 7 (a (b)) ${FIGURES}`],
    [{ process: 'a (b)', pid: 7, isOfSystem: true }],
  ],
  [
    'a process by its own choice',
    [`Out of memory (oom_kill_allocating_task): Killed process 8 (x) ${FIGURES}`],
    [{ process: 'x', pid: 8, isOfSystem: true }],
  ],
  [
    'one for a cgroup and then one for the machine',
    [
      `Memory cgroup out of memory: Killed process 9 (pod) ${FIGURES}`,
      `Out of memory: Killed process 8 (x) ${FIGURES}`,
    ],
    [
      { process: 'pod', pid: 9, isOfSystem: false },
      { process: 'x', pid: 8, isOfSystem: true },
    ],
  ],
  ['nothing', ['oom_reaper: reaped process 321 (python), now anon-rss:0kB', 'eth0: link up'], []],
])('the kernel says that it has ended %s', (_, messages, kills) => {
  expect(oomKills(messages.map((message, index) => record(message, index)))).toEqual(kills);
});

it('the message names the process', () => {
  expect(systemOomMessage({ process: 'python', pid: 321, isOfSystem: true })).toBe(
    'System OOM encountered, victim process: python, pid: 321',
  );
});

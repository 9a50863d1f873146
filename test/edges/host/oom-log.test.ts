import { readFileSync, writeFileSync } from 'node:fs';
import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { oomLog } from '../../../src/host/facts/oom-log.js';
import { oomKills } from '../../../src/model/node/system-oom.js';

it('the number of processes that were ended because memory ran out is that of the kernel', async () => {
  const counted = (): number => Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1]);
  const before = counted();
  const kills = await firstValueFrom(oomLog.kills());
  expect(kills).toBeGreaterThanOrEqual(before);
  expect(kills).toBeLessThanOrEqual(counted());
});

it('the records of the kernel are read to their end, oldest first, however often', async () => {
  const pid = 1_000_000_000 + process.pid;
  writeFileSync('/dev/kmsg', `Out of memory: Killed process ${pid} (planted by a test) total-vm:0kB\n`);
  writeFileSync('/dev/kmsg', `Memory cgroup out of memory: Killed process ${pid} (planted) total-vm:0kB\n`);
  for (let times = 0; times < 2; times++) {
    const records = await firstValueFrom(oomLog.records());
    expect(records.every((record) => /^\d+,\d+,\d+,[^;]*;/.test(record))).toBe(true);
    expect(oomKills(records).filter((kill) => kill.pid === pid)).toEqual([
      { process: 'planted by a test', pid, isOfSystem: true },
      { process: 'planted', pid, isOfSystem: false },
    ]);
  }
});

import { expect, it } from 'vitest';
import {
  parseCpuTime,
  parseDiskTransfers,
  parseMemoryInfo,
  parseNetDev,
  parseOpenFilesLimit,
  parseTaskCount,
} from '../../../src/model/stats/proc-files.js';
import { parsePressure } from '../../../src/model/stats/psi.js';

it('has the interfaces of a network namespace, without loopback and the ends of pods', () => {
  const text =
    'Inter-|   Receive                                                |  Transmit\n' +
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n' +
    '    lo:     500       5    0    0    0     0          0         0      500       5    0    0    0     0       0          0\n' +
    '  eth0: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n' +
    'veth12ab: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n' +
    '  eth1:7 1 0 0\n';
  expect(parseNetDev(text)).toEqual([
    {
      ...{ name: 'eth0', rxBytes: 1_000, rxPackets: 10, rxErrors: 1, rxDropped: 2 },
      ...{ txBytes: 2_000, txPackets: 20, txErrors: 3, txDropped: 4 },
    },
  ]);
});

it('has the memory of the machine, or nothing without a total', () => {
  const text = 'MemTotal:  100 kB\nMemFree:  40 kB\nInactive(file):  10 kB\nSwapTotal:  8 kB\nSwapFree:  3 kB\n';
  expect(parseMemoryInfo(text)).toEqual({
    ...{ total: 102_400, free: 40_960, inactiveFile: 10_240, swapTotal: 8_192, swapFree: 3_072 },
  });
  expect(parseMemoryInfo('MemFree: 4 kB\n')).toBeUndefined();
});

it('has the CPU time without idle and waiting time, and the tasks', () => {
  expect(parseCpuTime('cpu  100 10 50 9999 8888 2 3 5 7 0\ncpu0 1 1\n')).toBe(1.7e9);
  expect(parseCpuTime('')).toBeUndefined();
  expect(parseTaskCount('0.20 0.18 0.12 1/180 11\n')).toBe(180);
  expect(parseTaskCount('')).toBeUndefined();
});

it('has no pressure without a file, and no full pressure of the CPU before Linux 5.13', () => {
  expect(parsePressure(undefined)).toBeUndefined();
  const some = { total: 3, avg10: 0, avg60: 0, avg300: 0 };
  expect(parsePressure('some avg10=0.00 avg60=0.00 avg300=0.00 total=3\n')).toEqual({
    some,
    full: { ...some, total: 0 },
  });
});

it('has the transfers of block devices, and none of a line that it cannot read', () => {
  const text = [
    ' 254       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17',
    '   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11',
    '   8       2 sda2 1 2 3 4 5 6 7 8 9 10',
    '   8       3 sda3 1 2 3 4 5 6 7 8 x 10 11',
    '',
  ].join('\n');
  const transfers = {
    ...{ reads: 1, readsMerged: 2, sectorsRead: 3, readMs: 4, writes: 5, writesMerged: 6, sectorsWritten: 7 },
    ...{ writeMs: 8, inProgress: 9, busyMs: 10, weightedMs: 11 },
  };
  expect([...parseDiskTransfers(text)]).toEqual([
    ['254:0', transfers],
    ['8:1', transfers],
  ]);
});

it.each([
  ['Max open files            1024                 524288               files     \n', 1_024],
  ['Max open files            unlimited            unlimited            files     \n', -1],
  ['Max open files            x                    524288               files     \n', undefined],
  ['Max processes             95997                95997                processes \n', undefined],
])('has the soft limit of open files in %j: %s', (text, limit) => {
  expect(
    parseOpenFilesLimit(`Limit                     Soft Limit           Hard Limit           Units     \n${text}`),
  ).toBe(limit);
});

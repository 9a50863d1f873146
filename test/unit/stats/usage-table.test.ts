import { describe, expect, it } from 'vitest';
import {
  cpuRate,
  cpuText,
  memoryText,
  percentText,
  sortedUsage,
  type SummaryOfPods,
  usageRows,
} from '../../../src/model/stats/usage-table.js';

const MEBIBYTE = 2 ** 20;
const usage = (second: number, milliseconds: number, mebibytes: number) => ({
  cpu: { time: `2026-01-01T00:00:0${second}Z`, usageCoreNanoSeconds: milliseconds * 1e6 },
  memory: { workingSetBytes: mebibytes * MEBIBYTE },
});
const summary = (second: number, app: number, uid = 'u'): SummaryOfPods => ({
  node: { nodeName: 'n', ...usage(second, 0, 0) },
  pods: [
    {
      podRef: { name: 'web', namespace: 'a', uid },
      ...usage(second, app, 7),
      containers: [{ name: 'app', ...usage(second, app, 5) }],
    },
    { podRef: { name: 'new', namespace: 'a', uid: `new-${second}` }, ...usage(second, 0, 9) },
  ],
});

describe('the use of CPU and memory', () => {
  it('is that of each pod or container between two samples', () => {
    const [before, after] = [summary(1, 1_000), summary(3, 1_500)];
    expect(usageRows(before, after, false)).toEqual([
      { namespace: 'a', name: 'web', cpu: 250e6, memory: 7 * MEBIBYTE },
      { namespace: 'a', name: 'new', cpu: undefined, memory: 9 * MEBIBYTE },
    ]);
    expect(usageRows(before, after, true)).toEqual([
      { namespace: 'a', pod: 'web', name: 'app', cpu: 250e6, memory: 5 * MEBIBYTE },
    ]);
    expect(usageRows(summary(1, 1_000, 'other'), after, true)[0]?.cpu).toBeUndefined();
  });

  it('is unknown after a counter went back, and without time between the samples', () => {
    expect(cpuRate(usage(1, 5, 0), usage(2, 4, 0))).toBeUndefined();
    expect(cpuRate(usage(1, 5, 0), usage(1, 5, 0))).toBeUndefined();
    expect(cpuRate(usage(1, 5, 0), {})).toBeUndefined();
    expect(cpuRate(usage(1, 5, 0), usage(2, 5, 0))).toBe(0);
  });

  it('is sorted by name, or by an amount', () => {
    const rows = [
      { namespace: 'b', name: 'x', cpu: 1, memory: 3 },
      { namespace: 'a', name: 'z', cpu: undefined, memory: 2 },
      { namespace: 'a', name: 'y', cpu: 2, memory: 1 },
    ];
    const names = (by?: 'cpu' | 'memory') => sortedUsage(rows, by).map(({ name }) => name);
    expect([names(), names('cpu'), names('memory')]).toEqual([
      ['y', 'z', 'x'],
      ['y', 'x', 'z'],
      ['x', 'z', 'y'],
    ]);
  });

  it('is written as kubectl writes it', () => {
    expect([0, 1, 1e6, 1e6 + 1, undefined].map(cpuText)).toEqual(['0m', '1m', '1m', '2m', '<unknown>']);
    expect([0, MEBIBYTE - 1, 2 * MEBIBYTE, undefined].map(memoryText)).toEqual(['0Mi', '0Mi', '2Mi', '<unknown>']);
    expect([percentText(50, 100), percentText(199, 1_000), percentText(undefined, 1), percentText(1, 0)]).toEqual([
      '50%',
      '19%',
      '<unknown>',
      '<unknown>',
    ]);
  });
});

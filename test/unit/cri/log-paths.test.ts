import { describe, expect, it } from 'vitest';
import {
  containerLogDirectory,
  containerLogLink,
  containerLogPath,
  podLogDirectory,
  restartCountFromLogs,
  uidOfPodLogDirectory,
} from '../../../src/model/cri/log-paths.js';
import { aPod } from '../pods.js';

it('names directories and files as log shippers expect', () => {
  expect(podLogDirectory('/var/log/pods', aPod())).toBe('/var/log/pods/default_p_uid-1');
  expect(containerLogDirectory('/var/log/pods', aPod(), 'web')).toBe('/var/log/pods/default_p_uid-1/web');
  expect(uidOfPodLogDirectory('default_p_uid-1')).toBe('uid-1');
  expect(containerLogPath('web', 2)).toBe('web/2.log');
  expect(containerLogLink(aPod(), 'web', 'abc')).toBe('p_default_web-abc.log');
});

it('cuts a link to what a file name may have', () => {
  const link = containerLogLink(aPod({}, { name: 'n'.repeat(250) }), 'web', 'abc');
  expect(link).toHaveLength(255);
  expect(link.endsWith('_.log')).toBe(true);
});

describe('restartCountFromLogs', () => {
  it.each([
    [[], 0],
    [['0.log'], 1],
    [['0.log', '10.log', '9.log'], 11],
    [['3.log.20260101-000000.gz'], 4],
    [['x.log', '4.txt', 'a1.log'], 0],
  ])('%j: %i', (names, count) => {
    expect(restartCountFromLogs(names)).toBe(count);
  });
});

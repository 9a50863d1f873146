import { describe, expect, it } from 'vitest';
import {
  containerIdOfLogLink,
  containerLogDirectory,
  containerLogLink,
  containerLogPath,
  instancesWithLogs,
  podLogDirectory,
  podOfLogDirectory,
  restartCountFromLogs,
  uidOfPodLogDirectory,
} from '../../../src/model/cri/log-paths.js';
import { aPod } from '../pods.js';

it('names directories and files as log shippers expect', () => {
  expect(podLogDirectory('/var/log/pods', aPod())).toBe('/var/log/pods/default_p_uid-1');
  expect(containerLogDirectory('/var/log/pods', aPod(), 'web')).toBe('/var/log/pods/default_p_uid-1/web');
  expect(uidOfPodLogDirectory('default_p_uid-1')).toBe('uid-1');
  expect(containerLogPath('web', 2)).toBe('web/2.log');
  expect(containerLogLink('/links', aPod().metadata, 'web', 'abc')).toBe('/links/p_default_web-abc.log');
});

it('cuts a link to what a file name may have', () => {
  const link = containerLogLink('/links', { name: 'n'.repeat(250), namespace: 'default' }, 'web', 'abc');
  expect(link).toHaveLength('/links/'.length + 255);
  expect(link.endsWith('_.log')).toBe(true);
});

it.each([
  ['web_default_main-0123456789ab.log', '0123456789ab'],
  ['my-web_default_my-main-012345.log', '012345'],
  ['web_default_main-01234.log', undefined],
  ['web_default_main-0123456789ab.log.gz', undefined],
  ['0123456789ab.log', '0123456789ab'],
])('the link %s is about container %s', (name, id) => {
  expect(containerIdOfLogLink(name)).toBe(id);
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

describe('instancesWithLogs', () => {
  it.each([
    [[], []],
    [
      ['9.log', '10.log', '10.log.20260101-000000', '8.log.20260101-000000.gz'],
      [10, 9, 8],
    ],
    [['x.log', '4.txt', '1.logs'], []],
  ])('%j: %j', (names, counts) => {
    expect(instancesWithLogs(names)).toEqual(counts);
  });
});

it.each([
  ['default_web-node1_u-1', { namespace: 'default', name: 'web-node1', uid: 'u-1' }],
  ['web_u-1', undefined],
  ['default_web_u-1_x', undefined],
  ['default__u-1', undefined],
])('the directory %s has the logs of %j', (name, pod) => {
  expect(podOfLogDirectory(name)).toEqual(pod);
});

import { describe, expect, it } from 'vitest';
import { isThere as isCgroupThere } from '../../../src/host/cgroups/cgroup-tree.js';
import { isThere, readIfThere } from '../../../src/host/files/read-if-there.js';
import { readNodeFacts } from '../../../src/host/facts/read-node-facts.js';

const log = { warn: () => undefined };
/** Every read of it is an EIO. */
const UNREADABLE = '/proc/self/mem';

describe('what cannot be looked at', () => {
  it('is not taken for missing', () => {
    expect(readIfThere('/proc/self/none')).toBeUndefined();
    expect(() => readIfThere(UNREADABLE)).toThrow('EIO');
    expect([isThere('/proc/self/none'), isThere('/proc/self')]).toEqual([false, true]);
  });

  it('is no missing cgroup', () => {
    expect([isCgroupThere('/proc/self/none'), isCgroupThere('/proc/self')]).toEqual([false, true]);
    expect(() => isCgroupThere(`/${'x'.repeat(300)}`)).toThrow('ENAMETOOLONG');
  });

  it('is no node without a resolver', () => {
    const facts = (resolvConf: string) =>
      readNodeFacts({ rootDirectory: '/r', podLogsDirectory: '/l', resolvConf }, log);
    expect(() => facts(UNREADABLE)).toThrow('EIO');
    expect(facts('/none').resolvConf).toEqual({ servers: [], searches: [], options: [] });
  });
});

import { describe, expect, it } from 'vitest';
import { lowDescriptorLimit } from '../../../src/model/node/low-descriptor-limit.js';

const limits = (hard: number | 'unlimited') =>
  `Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max open files            64                   ${String(hard).padEnd(20)} files
Max locked memory         8388608              8388608              bytes
`;

describe('a hard limit of open files', () => {
  it.each([
    [256, 'embedded runtime', 48, 1384],
    [1383, 'embedded runtime', 329, 1384],
    [10, 'embedded runtime', 0, 1384],
    [256, 'agent', 96, 724],
    [723, 'agent', 329, 724],
  ] as const)('of %d is low for the %s: it is enough for %d containers', (hard, process, containers, needed) => {
    expect(lowDescriptorLimit(limits(hard), process)).toBe(
      `the hard limit of open files, ${hard}, is low: it is enough for about ${containers} containers, and 110 pods of three need ${needed} in the ${process}`,
    );
  });

  it.each([
    [1384, 'embedded runtime'],
    ['unlimited', 'embedded runtime'],
    [724, 'agent'],
    ['unlimited', 'agent'],
  ] as const)('of %s is enough for the %s', (hard, process) => {
    expect(lowDescriptorLimit(limits(hard), process)).toBeUndefined();
  });

  it('that is not known is no reason to warn', () => {
    expect(lowDescriptorLimit('', 'embedded runtime')).toBeUndefined();
  });
});

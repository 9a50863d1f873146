import { describe, expect, it } from 'vitest';
import { nestedMountPoints } from '../../../src/model/volumes/nested-mount-points.js';
import { aContainer, aPod } from '../pods.js';

const nested = (...mounts: readonly (readonly [volume: string, path: string])[]): readonly string[] => {
  const volumeMounts = mounts.map(([name, mountPath]) => ({ name, mountPath }));
  return nestedMountPoints(aPod({ containers: [aContainer('c', { volumeMounts })] }), 'v');
};

describe('the mount points in a volume', () => {
  it.each([
    [
      'none',
      [
        ['v', '/a'],
        ['w', '/b'],
        ['x', '/ab'],
      ],
      [],
    ],
    [
      'one',
      [
        ['v', '/a'],
        ['w', '/a/b/c'],
      ],
      ['b/c'],
    ],
    [
      'the outermost',
      [
        ['v', '/a'],
        ['x', '/a/b/c'],
        ['w', '/a/b'],
        ['y', '/a/bc'],
      ],
      ['b', 'bc'],
    ],
    [
      'of each mount of the volume',
      [
        ['v', '/a'],
        ['v', '/z'],
        ['w', '/z/n/'],
      ],
      ['n'],
    ],
    [
      'with untidy paths',
      [
        ['v', '/a/'],
        ['w', '//a/./x/../b'],
      ],
      ['b'],
    ],
    [
      'below a relative path',
      [
        ['v', 'a'],
        ['w', 'a/b'],
      ],
      ['b'],
    ],
    [
      'below the root',
      [
        ['v', '/'],
        ['w', '/a'],
      ],
      ['a'],
    ],
  ] as const)('are %s', (_, mounts, expected) => expect(nested(...mounts)).toEqual(expected));

  it('are not outside of the container', () => {
    expect(() => nested(['v', '../a'], ['w', '../a/b'])).toThrow('invalid container mount point ../a');
    expect(nested(['v', '/../a'], ['w', '/a/b'])).toEqual(['b']);
  });
});

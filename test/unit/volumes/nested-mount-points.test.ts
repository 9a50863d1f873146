import { describe, expect, it } from 'vitest';
import { containerMounts } from '../../../src/model/volumes/container-mounts.js';
import { nestedMountPoints, ownMountPoints } from '../../../src/model/volumes/nested-mount-points.js';
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

const VOLUMES = [
  { name: 'empty', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory' } },
  { name: 'host', hostPath: { path: '/srv' } },
  { name: 'settings', configMap: {} },
  { name: 'secret', secret: {} },
  { name: 'image', image: { reference: 'i' } },
];
const RO = { readOnly: true };
type Mounted = readonly [volume: string, path: string, fields?: object];

/** The mount points that the agent makes, as `<end of the directory>: <path>`, with the end of the source. */
const made = (mounts: readonly Mounted[], others: readonly string[] = []): readonly string[] => {
  const volumeMounts = mounts.map(([name, mountPath, fields]) => ({ name, mountPath, ...fields }));
  const container = aContainer('c', { volumeMounts });
  const pod = aPod({ containers: [container], volumes: VOLUMES });
  const input = {
    rootDirectory: '/r',
    isMounted: () => true,
    variable: () => undefined,
    images: new Map([['image', 'i']]),
  };
  const own = containerMounts(pod, container, { ...input, canMountRecursivelyReadOnly: false, hasSelinux: false });
  const files = others.map((containerPath) => ({ containerPath, hostPath: '/agent/file' }));
  const end = (path = 'none'): string => path.split('/').slice(-2).join('/');
  return ownMountPoints(pod, own, files).map(
    ({ directory, path, source }) => `${end(directory)}: ${path} from ${end(source)}`,
  );
};

describe('the mount points that the agent makes', () => {
  it.each<readonly [what: string, mounts: readonly Mounted[], expected: readonly string[]]>([
    [
      'in a read-only emptyDir',
      [
        ['empty', '/e', RO],
        ['settings', '/e/a/b'],
      ],
      ['kubernetes.io~empty-dir/empty: a/b from kubernetes.io~configmap/settings'],
    ],
    [
      'in a volume whose files the agent writes, and in one inside of that',
      [
        ['settings', '/s/'],
        ['secret', '/s/x/'],
        ['host', '/s/x/y'],
      ],
      [
        'kubernetes.io~configmap/settings: x from kubernetes.io~secret/secret',
        'kubernetes.io~secret/secret: y from /srv',
      ],
    ],
    [
      'not in a writable emptyDir, where the runtime makes it',
      [
        ['empty', '/e'],
        ['settings', '/e/a'],
      ],
      [],
    ],
    [
      'not in a read-only path of the machine or image',
      [
        ['host', '/h', RO],
        ['settings', '/h/a'],
        ['image', '/i'],
        ['settings', '/i/a'],
      ],
      [],
    ],
    [
      'not where a writable volume is in between',
      [
        ['empty', '/e', RO],
        ['memory', '/e/m'],
        ['settings', '/e/m/s'],
      ],
      ['kubernetes.io~empty-dir/empty: m from kubernetes.io~empty-dir/memory'],
    ],
    [
      'in and for sub-paths',
      [
        ['empty', '/e', { ...RO, subPath: 'x' }],
        ['settings', '/e/key', { subPath: 'key' }],
      ],
      ['c/0: key from c/1'],
    ],
    [
      'for an image, which has no source',
      [
        ['empty', '/e', RO],
        ['image', '/e/i'],
      ],
      ['kubernetes.io~empty-dir/empty: i from none'],
    ],
    [
      'for equal paths not at all, and not beside',
      [
        ['empty', '/e', RO],
        ['settings', '/e'],
        ['secret', '/ee'],
      ],
      [],
    ],
  ])('are %s', (_, mounts, expected) => {
    expect(made(mounts)).toEqual(expected);
  });

  it('are also those of the files of the agent', () => {
    expect(made([['memory', '/etc', RO]], ['/etc/hosts', '/dev/log'])).toEqual([
      'kubernetes.io~empty-dir/memory: hosts from agent/file',
    ]);
  });
});

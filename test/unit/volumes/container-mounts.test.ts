import { supportsRecursiveReadOnly } from '../../../src/model/volumes/recursive-read-only.js';
import { createFailureText } from '../../../src/model/volumes/image-volumes.js';
import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod/pod.js';
import {
  containerMounts,
  hostPathChecks,
  type ContainerMountsInput,
  subPathRefusal,
} from '../../../src/model/volumes/container-mounts.js';
import { aContainer, aPod } from '../pods.js';

type Spec = NonNullable<Container['volumeMounts']>[number];
const INPUT: ContainerMountsInput = {
  rootDirectory: '/r',
  isMounted: () => true,
  variable: (name) => ({ POD: 'p', EMPTY: '', SLASH: '/', UP: '..' })[name],
  images: new Map([['image', 'sha256:1']]),
  canMountRecursivelyReadOnly: true,
  hasSelinux: false,
};
const VOLUMES = [
  { name: 'empty', emptyDir: {} },
  { name: 'host', hostPath: { path: '/srv' } },
  { name: 'secret', secret: {} },
  { name: 'settings', configMap: {} },
  { name: 'about', downwardAPI: {} },
  { name: 'all', projected: {} },
  { name: 'image', image: { reference: 'img:1' } },
  { name: 'pvc', persistentVolumeClaim: { claimName: 'c' } },
];
const mountsOf = (mounts: readonly Spec[], input: Partial<ContainerMountsInput> = {}, container = {}) => {
  const wanted = aContainer('web', { volumeMounts: mounts, ...container });
  const pod = aPod({ containers: [wanted], volumes: VOLUMES }, { annotations: { a: 'b' } });
  return containerMounts(pod, wanted, { ...INPUT, ...input });
};
const mountOf = (mount: Partial<Spec>, input: Partial<ContainerMountsInput> = {}) =>
  mountsOf([{ name: 'empty', mountPath: '/m', ...mount }], input)[0]!;

describe('the mounts of a container', () => {
  it('are those of its volumeMounts in order', () => {
    const mounts = mountsOf([
      { name: 'secret', mountPath: 'relative' },
      { name: 'host', mountPath: '/h', readOnly: true },
      { name: 'empty', mountPath: '/e' },
    ]);
    const common = { recursiveReadOnly: false, propagation: 'PROPAGATION_PRIVATE', selinuxRelabel: false };
    expect(mounts).toEqual([
      {
        volume: 'secret',
        mount: {
          ...common,
          containerPath: '/relative',
          hostPath: '/r/pods/uid-1/volumes/kubernetes.io~secret/secret',
          readonly: true,
        },
      },
      { volume: 'host', mount: { ...common, containerPath: '/h', hostPath: '/srv', readonly: true } },
      {
        volume: 'empty',
        mount: {
          ...common,
          containerPath: '/e',
          hostPath: '/r/pods/uid-1/volumes/kubernetes.io~empty-dir/empty',
          readonly: false,
        },
      },
    ]);
  });

  it('are images of the runtime for image volumes', () => {
    expect(mountOf({ name: 'image', subPath: 'etc' })).toMatchObject({
      mount: {
        hostPath: '',
        readonly: true,
        image: { image: 'sha256:1', userSpecifiedImage: 'img:1', annotations: { a: 'b' } },
        imageSubPath: 'etc',
      },
    });
    expect(mountOf({ name: 'image', subPath: 'etc' }).subPath).toBeUndefined();
    expect(() => mountOf({ name: 'image' }, { images: new Map() })).toThrow(
      'cannot find volume "image" to mount into container "web": its image is not on the node',
    );
  });

  it('a sub-path gives mounts back to its volume only for propagation in both directions', () => {
    const givesBack = (mountPropagation: string) =>
      mountOf({ name: 'host', subPath: 'a', mountPropagation }).subPath?.givesBack;
    expect(['None', 'HostToContainer', 'Bidirectional'].map(givesBack)).toEqual([undefined, undefined, true]);
  });

  it.each([
    ['Socket', {}, { path: '/srv/d.sock', type: 'Socket' }],
    ['FileOrCreate', { subPath: 'x' }, { path: '/srv/d.sock', type: 'FileOrCreate' }],
    ['', {}, undefined],
    [undefined, {}, undefined],
  ])('a hostPath of type %s with %j has the check %j before a start', (type, mount, expected) => {
    const wanted = aContainer('web', { volumeMounts: [{ name: 'd', mountPath: '/d', ...mount }] });
    const path = '/srv/d.sock';
    const volumes = [{ name: 'd', hostPath: { path, ...(type !== undefined && { type }) } }];
    const [one] = containerMounts(aPod({ containers: [wanted], volumes }), wanted, INPUT);
    expect(one?.hostPath).toEqual(expected);
  });

  it.each([
    ['None', 'PROPAGATION_PRIVATE'],
    ['HostToContainer', 'PROPAGATION_HOST_TO_CONTAINER'],
    ['Bidirectional', 'PROPAGATION_BIDIRECTIONAL'],
  ])('propagate %s as %s', (mountPropagation, expected) => {
    expect(mountOf({ mountPropagation }).mount.propagation).toBe(expected);
  });

  it.each([
    ['empty', true],
    ['settings', true],
    ['secret', true],
    ['about', true],
    ['all', true],
    ['host', false],
    ['image', false],
  ])('of the volume %s are relabelled where SELinux is on: %s, and nowhere else', (name, expected) => {
    const relabelled = (hasSelinux: boolean) => mountOf({ name }, { hasSelinux }).mount.selinuxRelabel;
    expect([relabelled(true), relabelled(false)]).toEqual([expected, false]);
  });

  it.each([
    [{ name: 'none' }, {}, 'cannot find volume "none" to mount into container "web"'],
    [{ name: 'pvc' }, {}, 'cannot find volume "pvc" to mount into container "web"'],
    [{}, { isMounted: () => false }, 'cannot find volume "empty" to mount into container "web"'],
    [{ mountPropagation: 'Both' }, {}, 'invalid MountPropagation mode: "Both"'],
    [{ mountPropagation: 'toString' }, {}, 'invalid MountPropagation mode: "toString"'],
  ] as const)('are refused: %j', (mount, input, text) => expect(() => mountOf(mount, input)).toThrow(text));

  it('include no block devices', () => {
    const withDevice = (devicePath: string) => mountsOf([], {}, { volumeDevices: [{ name: 'pvc', devicePath }] });
    expect(() => withDevice('/dev/x')).toThrow('cannot find volume "pvc" to pass into container "web"');
    expect(() => withDevice('dev/x')).toThrow('error DevicePath `dev/x` must be an absolute path');
  });
});

describe('a sub-path', () => {
  it('is bound at a target of its own, which the container mounts', () => {
    const [, mount] = mountsOf([
      { name: 'empty', mountPath: '/a' },
      { name: 'empty', mountPath: '/b', subPath: 'x/y' },
    ]);
    const target = '/r/pods/uid-1/volume-subpaths/empty/web/1';
    expect(mount).toMatchObject({
      mount: { hostPath: target },
      subPath: { volumeDirectory: '/r/pods/uid-1/volumes/kubernetes.io~empty-dir/empty', subPath: 'x/y', target },
    });
  });

  it('is expanded with the environment', () => {
    expect(mountOf({ subPathExpr: 'logs/$(POD)/$$(x)' }).subPath?.subPath).toBe('logs/p/$(x)');
  });

  it.each([
    [{ subPathExpr: '$(NONE)/$(EMPTY)/$(ALSO)/$(NONE)' }, 'missing value for ALSO, EMPTY, NONE'],
    [{ subPathExpr: '$(SLASH)etc' }, 'error SubPath `/etc` must not be an absolute path'],
    [{ subPathExpr: 'a/$(UP)/b' }, "unable to provision SubPath `a/../b`: must not contain '..'"],
    [{ subPath: '/etc' }, 'error SubPath `/etc` must not be an absolute path'],
    [{ subPath: '..' }, "unable to provision SubPath `..`: must not contain '..'"],
    [{ subPath: 'a\0b' }, 'unable to provision SubPath: must not contain a NUL character'],
    [{ name: 'image', subPath: '../x' }, "unable to provision SubPath `../x`: must not contain '..'"],
  ])('%j is refused', (mount, text) => expect(() => mountOf(mount)).toThrow(text));

  it('has an error without paths of the machine', () => {
    expect(subPathRefusal('v', 'c')).toMatchObject({
      name: 'CreateContainerConfigError',
      message: 'failed to prepare subPath for volumeMount "v" of container "c"',
    });
  });
});

describe('a recursively read-only mount', () => {
  const recursive = (mount: Partial<Spec>, canMountRecursivelyReadOnly = true) =>
    mountOf({ readOnly: true, ...mount }, { canMountRecursivelyReadOnly }).mount.recursiveReadOnly;

  it.each([
    [undefined, true, false],
    ['Disabled', true, false],
    ['IfPossible', true, true],
    ['IfPossible', false, false],
    ['Enabled', true, true],
  ])('%s over a runtime that can: %s, is %s', (recursiveReadOnly, can, expected) =>
    expect(recursive(recursiveReadOnly === undefined ? {} : { recursiveReadOnly }, can)).toBe(expected),
  );

  it.each([
    [{ recursiveReadOnly: 'Enabled', readOnly: false }, true, 'but it is not read-only'],
    [{ recursiveReadOnly: 'Enabled' }, false, 'but it is not supported by the runtime'],
    [
      { recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' },
      true,
      'but it is not compatible with propagation "HostToContainer"',
    ],
    [{ recursiveReadOnly: 'Maybe' }, true, 'unknown recursive read-only mode "Maybe"'],
  ] as const)('%j is refused', (mount, can, text) =>
    expect(() => recursive(mount, can)).toThrow(new RegExp(`^failed to resolve recursive read-only mode: .*${text}$`)),
  );
});

it.each([
  ['', [], false],
  ['', undefined, false],
  ['', [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }], true],
  ['other', [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }], false],
  ['', [{ name: '', features: undefined }], false],
])('handler %j of %j: recursively read-only mounts %s', (name, handlers, expected) =>
  expect(supportsRecursiveReadOnly(name, handlers)).toBe(expected),
);

describe('the text of a failed CreateContainer call', () => {
  const image = { image: { userSpecifiedImage: 'web:1' }, containerPath: '/web' };

  it('names image volumes, which the runtime may not support', () =>
    expect(createFailureText('mkdir : no such file', [{ containerPath: '/x' }, image])).toBe(
      'mkdir : no such file (the container mounts an image volume, web:1 at /web: the runtime may not support that; containerd does from 2.1 on)',
    ));

  it('is that of the runtime without such volumes', () =>
    expect(createFailureText('mkdir : no such file', [{ containerPath: '/x' }])).toBe('mkdir : no such file'));
});

it('the type of a path of the machine is checked once for each volume, and never without a type', () => {
  const mount = {};
  const hostPath = { path: '/srv', type: 'Directory' };
  const mounts = [
    { volume: 'a', mount, hostPath },
    { volume: 'b', mount },
    { volume: 'c', mount, hostPath: { path: '/dev/x', type: 'CharDevice' } },
    { volume: 'a', mount, hostPath },
  ];
  expect(hostPathChecks(mounts)).toEqual([
    { volume: 'a', path: '/srv', type: 'Directory' },
    { volume: 'c', path: '/dev/x', type: 'CharDevice' },
  ]);
  expect(hostPathChecks([])).toEqual([]);
});

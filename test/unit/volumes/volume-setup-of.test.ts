import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { hasTmpfsNoswap } from '../../../src/model/volumes/memory-medium.js';
import { volumeSetup } from '../../../src/model/volumes/volume-setup-of.js';
import { aContainer, aPod } from '../pods.js';

const NODE = { rootDirectory: '/r', allocatable: { memory: '8Gi' }, hasTmpfsNoswap: false };
const GI = 2 ** 30;
const setupOf = (volume: object, spec: Partial<PodSpec> = {}, node = NODE) =>
  volumeSetup(aPod(spec), { name: 'v', ...volume }, node);
const optionsOf = (...args: Parameters<typeof setupOf>) => setupOf(...args)?.mount?.options;
const limited = (memory: string) => aContainer('c', { resources: { limits: { memory }, requests: { memory } } });
const requesting = (name: string, ...sizes: string[]) =>
  aContainer(name, { resources: { requests: Object.fromEntries(sizes.map((size) => [`hugepages-${size}`, '1Gi'])) } });

describe('the setup of a volume', () => {
  it('is a plain directory for an emptyDir on disk and for a configMap', () => {
    expect(setupOf({ emptyDir: {} })).toEqual({
      directory: '/r/pods/uid-1/volumes/kubernetes.io~empty-dir/v',
      markerDirectory: '/r/pods/uid-1/plugins/kubernetes.io~empty-dir/v',
    });
    expect(setupOf({ configMap: { name: 'c' } })).toEqual({
      directory: '/r/pods/uid-1/volumes/kubernetes.io~configmap/v',
      markerDirectory: '/r/pods/uid-1/plugins/kubernetes.io~empty-dir/wrapped_v',
    });
  });

  it.each(['secret', 'downwardAPI', 'projected'])(
    'is in memory for a %s, without swap where the kernel can',
    (kind) => {
      const setup = setupOf({ [kind]: {} }, {}, { ...NODE, hasTmpfsNoswap: true });
      expect(setup?.mount).toEqual({ type: 'tmpfs', source: 'tmpfs', options: [`size=${8 * GI}`, 'noswap'] });
    },
  );

  it.each([
    ['the memory of the node', '16Gi', '32Gi', 8 * GI],
    ['the limit of the pod', '4Gi', '32Gi', 4 * GI],
    ['the limit of the volume', '4Gi', '1Gi', GI],
    ['not a limit of zero', '4Gi', '0', 4 * GI],
  ])('has the size of %s', (_, pod, sizeLimit, bytes) => {
    expect(optionsOf({ emptyDir: { medium: 'Memory', sizeLimit } }, { containers: [limited(pod)] })).toEqual([
      `size=${bytes}`,
    ]);
  });

  it('has no size if nothing limits it, and the default of the kernel then', () => {
    expect(optionsOf({ emptyDir: { medium: 'Memory' } }, {}, { ...NODE, allocatable: {} as never })).toEqual([]);
    const unlimited = [limited('4Gi'), aContainer('d')];
    expect(optionsOf({ emptyDir: { medium: 'Memory' } }, { containers: unlimited })).toEqual([`size=${8 * GI}`]);
  });

  it.each([
    ['HugePages', '2Mi'],
    ['HugePages-2Mi', '2Mi'],
    ['HugePages-1Gi', '1Gi'],
    ['HugePages-1024Mi', '1Gi'],
  ])('is a hugetlbfs for the medium %s', (medium, size) => {
    const initContainers = [requesting('i', size === '1Gi' || medium !== 'HugePages' ? '1Gi' : '2Mi')];
    expect(setupOf({ emptyDir: { medium } }, { containers: [requesting('c', '2Mi')], initContainers })?.mount).toEqual({
      type: 'hugetlbfs',
      source: 'nodev',
      options: [`pagesize=${size}`],
    });
  });

  it.each([
    ['HugePages', [], 'medium HugePages: hugePages storage requested, but there is no resource request for huge pages'],
    [
      'HugePages-1Gi',
      ['2Mi'],
      'medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages',
    ],
    ['HugePages', ['2Mi', '1Gi'], "medium: HugePages can't be used if container requests multiple huge page sizes"],
    ['HugePages-big', ['2Mi'], 'the size of huge pages is "big", expected a quantity'],
    ['Floppy', [], 'unknown storage medium "Floppy"'],
  ])('of the medium %s with requests for %j is refused', (medium, sizes, text) => {
    expect(() => setupOf({ emptyDir: { medium } }, { containers: [requesting('c', ...sizes)] })).toThrow(text);
  });

  it('has the group of the pod, with fewer bits for files that the agent writes', () => {
    const securityContext = { fsGroup: 77 };
    expect(setupOf({ emptyDir: {} }, { securityContext })?.ownership).toEqual({ fsGroup: 77, readOnly: false });
    expect(setupOf({ secret: {} }, { securityContext })?.ownership).toEqual({ fsGroup: 77, readOnly: true });
  });

  it('has directories for the mounts of other volumes in files that the agent writes', () => {
    const volumeMounts = [
      { name: 'v', mountPath: '/etc/app' },
      { name: 'w', mountPath: '/etc/app/extra' },
    ];
    const containers = [aContainer('c', { volumeMounts })];
    expect(setupOf({ configMap: {} }, { containers })?.nested).toEqual(['extra']);
    expect(setupOf({ emptyDir: {} }, { containers })?.nested).toBeUndefined();
  });

  it('is nothing for a hostPath and an image, and refused for other kinds', () => {
    expect(setupOf({ hostPath: { path: '/' } })).toBeUndefined();
    expect(setupOf({ image: {} })).toBeUndefined();
    expect(() => setupOf({ nfs: {} })).toThrow('volumes of kind nfs are not supported by this agent');
  });
});

it.each([
  ['6.18.44-x', true],
  ['6.4.0', true],
  ['6.3.9', false],
  ['5.15.0-91-generic', false],
  ['', false],
])('the kernel %j has noswap: %s', (version, expected) => expect(hasTmpfsNoswap(version)).toBe(expected));

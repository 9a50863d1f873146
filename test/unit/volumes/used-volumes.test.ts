import { expect, it } from 'vitest';
import { mountedVolumesSetUpAgain, usedVolumes } from '../../../src/model/volumes/used-volumes.js';
import { aContainer, aPod } from '../pods.js';

const using = (name: string, ...volumes: string[]) =>
  aContainer(name, { volumeMounts: volumes.map((volume) => ({ name: volume, mountPath: `/${volume}` })) });

it('returns the volumes that a container of any kind uses, in the order of the spec', () => {
  const pod = aPod({
    volumes: ['unused', 'init', 'regular', 'ephemeral', 'device'].map((name) => ({ name, emptyDir: {} })),
    initContainers: [using('i', 'init')],
    containers: [
      { ...using('c', 'regular', 'init'), volumeDevices: [{ name: 'device', devicePath: '/dev/x' }] },
      using('d', 'missing'),
    ],
    ephemeralContainers: [using('e', 'ephemeral')],
  });
  expect(usedVolumes(pod).map(({ name }) => name)).toEqual(['init', 'regular', 'ephemeral', 'device']);
  expect(usedVolumes(aPod())).toEqual([]);
});

it.each([
  { case: 'a container without mounts', container: aContainer('c'), names: [] },
  {
    case: 'a container that mounts only volumes that are set up once',
    container: using('c', 'scratch', 'host'),
    names: [],
  },
  {
    case: 'a container that mounts all volumes, some twice',
    container: using('c', 'secret', 'scratch', 'settings', 'secret', 'missing'),
    names: ['settings', 'secret'],
  },
])('of $case, these volumes follow objects: $names', ({ container, names }) => {
  const pod = aPod({
    volumes: [
      { name: 'settings', configMap: { name: 'a' } },
      { name: 'scratch', emptyDir: {} },
      { name: 'secret', secret: { secretName: 'b' } },
      { name: 'unmounted', secret: { secretName: 'c' } },
      { name: 'host', hostPath: { path: '/' } },
    ],
  });
  expect(mountedVolumesSetUpAgain(pod, container)).toEqual(names);
});

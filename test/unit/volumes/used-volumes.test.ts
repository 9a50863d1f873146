import { expect, it } from 'vitest';
import { usedVolumes } from '../../../src/model/volumes/used-volumes.js';
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

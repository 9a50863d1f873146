import { describe, expect, it } from 'vitest';
import type { StartWait } from '../../../src/model/pod-actions/start-wait.js';
import { ContainerSyncError } from '../../../src/model/pod-actions/sync-error.js';
import { type FoundImage, imagesByVolume, mountedImages } from '../../../src/model/volumes/image-volumes.js';
import { aContainer, aPod } from '../pods.js';

describe('the images of the image volumes that a container mounts', () => {
  const pod = aPod({
    volumes: [
      { name: 'one', image: { reference: 'one:1', pullPolicy: 'Never' } },
      { name: 'two', image: { reference: 'two:1' } },
      { name: 'unused', image: { reference: 'unused:1' } },
      { name: 'bare', image: {} },
      { name: 'scratch', emptyDir: {} },
    ],
  });
  const mounting = (...names: readonly string[]) =>
    aContainer('web', { volumeMounts: names.map((name, index) => ({ name, mountPath: `/${index}` })) });

  it.each([
    { case: 'a container without mounts needs none', container: aContainer('web'), images: [] },
    { case: 'other volumes and missing ones need none', container: mounting('scratch', 'missing'), images: [] },
    {
      case: 'each image is wanted once, in the order of the mounts',
      container: mounting('two', 'scratch', 'one', 'two'),
      images: [
        { volume: 'two', wanted: { name: 'web', image: 'two:1' } },
        { volume: 'one', wanted: { name: 'web', image: 'one:1', imagePullPolicy: 'Never' } },
      ],
    },
    {
      case: 'an image without a reference has an empty one',
      container: mounting('bare'),
      images: [{ volume: 'bare', wanted: { name: 'web', image: '' } }],
    },
  ])('$case', ({ container, images }) => {
    expect(mountedImages(pod, container)).toEqual(images);
  });
});

describe('the images of all volumes', () => {
  const wait: StartWait = { container: 'web', reason: 'ImagePullBackOff', message: 'later' };
  const failure = new ContainerSyncError('web', 'ErrImagePull', 'no such image');
  const image = (volume: string): FoundImage => ({ volume, found: { id: `sha256:${volume}` } });

  it.each<{ case: string; found: readonly FoundImage[]; result: unknown }>([
    { case: 'are empty without volumes', found: [], result: new Map() },
    {
      case: 'are their ids by volume',
      found: [image('a'), image('b')],
      result: new Map([
        ['a', 'sha256:a'],
        ['b', 'sha256:b'],
      ]),
    },
    { case: 'are the wait of one of them', found: [image('a'), { volume: 'b', found: wait }], result: wait },
    {
      case: 'are the failure of one of them, also before another image',
      found: [{ volume: 'a', found: failure }, image('b')],
      result: failure,
    },
    {
      case: 'are the last problem: a wait after a failure',
      found: [{ volume: 'a', found: failure }, { volume: 'b', found: wait }, image('c')],
      result: wait,
    },
    {
      case: 'are the last problem: a failure after a wait',
      found: [
        { volume: 'a', found: wait },
        { volume: 'b', found: failure },
      ],
      result: failure,
    },
  ])('the images of all volumes $case', ({ found, result }) => {
    expect(imagesByVolume(found)).toEqual(result);
  });
});

import { expect, it } from 'vitest';
import {
  markerDirectory,
  subPathTarget,
  unescapedPlugin,
  volumeDirectory,
  volumeSubPathsDirectory,
} from '../../../src/model/volumes/volume-paths.js';

it('places volumes, markers and sub-paths below the directory of the pod', () => {
  expect(volumeDirectory('/r', 'u', 'kubernetes.io/secret', 's')).toBe('/r/pods/u/volumes/kubernetes.io~secret/s');
  expect(markerDirectory('/r', 'u', 'kubernetes.io/empty-dir', 'e')).toBe(
    '/r/pods/u/plugins/kubernetes.io~empty-dir/e',
  );
  expect(markerDirectory('/r', 'u', 'kubernetes.io/secret', 's')).toBe(
    '/r/pods/u/plugins/kubernetes.io~empty-dir/wrapped_s',
  );
  expect(volumeSubPathsDirectory('/r', 'u', 's')).toBe('/r/pods/u/volume-subpaths/s');
  expect(subPathTarget('/r', 'u', 's', 'c', 2)).toBe('/r/pods/u/volume-subpaths/s/c/2');
  expect(unescapedPlugin('kubernetes.io~secret')).toBe('kubernetes.io/secret');
});

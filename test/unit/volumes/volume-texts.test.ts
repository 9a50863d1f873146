import { expect, it } from 'vitest';
import {
  mountWaitText,
  setUpFailedText,
  unmountWaitText,
  VOLUME_WAIT_TIMED_OUT,
  waitFailedText,
} from '../../../src/model/volumes/volume-texts.js';

it('has the texts of the kubelet, with sorted names', () => {
  expect(setUpFailedText('v', 'configmap "c" not found')).toBe(
    'MountVolume.SetUp failed for volume "v" : configmap "c" not found',
  );
  const wait = mountWaitText({ unmounted: ['b', 'a'], unattached: [], unprocessed: ['b'] }, VOLUME_WAIT_TIMED_OUT);
  expect(waitFailedText(wait)).toBe(
    'Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[], ' +
      'failed to process volumes=[b]: context deadline exceeded',
  );
  expect(unmountWaitText(['b', 'a'], VOLUME_WAIT_TIMED_OUT)).toBe('mounted volumes=[a b]: context deadline exceeded');
});

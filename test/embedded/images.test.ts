import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';

describe('images, over the embedded runtime,', () => {
  it('are pulled no more often than the configuration allows', async ({ daemon }) => {
    daemon.apply({ name: 'often', containers: [{ imagePullPolicy: 'Always' }] });
    daemon.apply({ name: 'there', containers: [{ imagePullPolicy: 'IfNotPresent' }] });
    await daemon.start('--config', daemon.configuration({ registryPullQPS: 1, registryBurst: 0 }));
    await daemon.reached('there', 'CONTAINER_RUNNING');
    await eventually('the pull is refused', async () => {
      const pod = (await daemon.shownPods()).find(({ metadata }) => metadata.name.startsWith('often'));
      const waiting = pod?.status?.containerStatuses?.[0]?.state?.waiting;
      expect(['pull QPS exceeded', 'Back-off pulling image "host": ErrImagePull: pull QPS exceeded']).toContain(
        waiting?.message,
      );
      return true;
    });
    expect(await daemon.containersOf('often')).toEqual([]);
  });

  it('of a name that cannot be one are told by the name and what is wrong with it', async ({ daemon }) => {
    daemon.apply({ name: 'wrong', containers: [{ image: 'Host:1' }] });
    await daemon.start();
    await eventually('the reason is shown', async () => {
      const [pod] = await daemon.shownPods();
      expect(pod?.status?.containerStatuses?.[0]?.state?.waiting).toEqual({
        reason: 'InvalidImageName',
        message:
          'Failed to apply default image tag "Host:1": couldn\'t parse image name "Host:1": ' +
          'invalid reference format: repository name (library/Host) must be lowercase',
      });
      return true;
    });
  });
});

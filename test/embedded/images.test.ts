import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';

describe('images, over the embedded runtime,', () => {
  it('are pulled no more often than the configuration allows', async ({ daemon }) => {
    // The first pull is free; a second one within the same second is refused.
    for (const name of ['often-1', 'often-2', 'often-3']) {
      daemon.apply({ name, containers: [{ imagePullPolicy: 'Always' }] });
    }
    daemon.apply({ name: 'there', containers: [{ imagePullPolicy: 'IfNotPresent' }] });
    await daemon.start('--config', daemon.configuration({ registryPullQPS: 1, registryBurst: 1 }));
    await daemon.reached('there', 'CONTAINER_RUNNING');
    await eventually('the pull is refused', async () => {
      const pods = (await daemon.shownPods()).filter(({ metadata }) => metadata.name.startsWith('often'));
      const messages = pods.map(({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.message ?? '');
      return messages.some((message) => message.endsWith('pull QPS exceeded'));
    });
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

import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';

describe('images, over the embedded runtime,', () => {
  it('are pulled no more often than the configuration allows', async ({ daemon }) => {
    // The first pull is free; a second one within the same second is refused. Some of the twelve are refused, on a slow machine, too.
    for (let count = 1; count <= 12; count += 1) {
      daemon.apply({ name: `often-${count}`, containers: [{ imagePullPolicy: 'Always' }] });
    }
    daemon.apply({ name: 'there', containers: [{ imagePullPolicy: 'IfNotPresent' }] });
    await daemon.start('--config', daemon.configuration({ registryPullQPS: 1, registryBurst: 1 }));
    await daemon.reached('there', 'CONTAINER_RUNNING');
    // The status says so only until the next try.
    await eventually('the pull is refused', () =>
      daemon
        .journal()
        .some(
          (entry) =>
            entry.kind === 'event' &&
            entry.pod?.name.startsWith('often-') === true &&
            entry.message.endsWith('pull QPS exceeded'),
        ),
    );
  });

  it('of a name that cannot be one are reported with the name and what is wrong with it', async ({ daemon }) => {
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

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { CgroupStage, mounts } from '../edges/host/cgroup-stage.js';
import { isRoot, it } from './daemon.js';
import { eventually } from './eventually.js';
import { readTextOf } from './processes.js';

/** Making cgroups takes root; without it the embedded runtime is not asked to. In CI there is no excuse. */
describe.runIf(isRoot || process.env.CI === 'true')('pods of the embedded runtime', () => {
  it('lie in cgroups like those of the kubelet where a root for these is given', async ({ daemon }) => {
    const stage = new CgroupStage();
    daemon.afterDispose(() => stage.dispose());
    daemon.apply({
      name: 'asking',
      containers: [{ resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } } }],
    });
    await daemon.start('--cgroup-root', `/${stage.name}`);
    await daemon.reached('asking', 'CONTAINER_RUNNING');
    const { pid } = await daemon.processOf('asking');
    const [container] = await daemon.containersOf('asking');
    const pod = `kubepods/burstable/pod${container?.uid}`;
    const controller = mounts.version === 2 ? '' : 'memory';
    const line = readTextOf(pid, 'cgroup')
      .split('\n')
      .find((entry) => entry.split(':')[1] === controller);
    expect(line).toContain(`:/${stage.name}/${pod}/`);
    const file = mounts.version === 2 ? 'memory.max' : 'memory.limit_in_bytes';
    expect(readFileSync(join(stage.in(controller), pod, file), 'utf8').trim()).toBe(String(64 * 2 ** 20));
    daemon.delete('asking.yaml');
    await eventually(
      'the cgroup has gone with the pod',
      () => !stage.directories.some((root) => existsSync(join(root, pod))),
    );
  });

  it('stay where the runtime puts them where none is given', async ({ daemon }) => {
    daemon.apply({ name: 'free' });
    await daemon.start();
    await daemon.reached('free', 'CONTAINER_RUNNING');
    const { pid } = await daemon.processOf('free');
    expect(readTextOf(pid, 'cgroup')).not.toContain('kubepods');
  });
});

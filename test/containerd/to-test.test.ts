import { join } from 'node:path';
import { expect } from 'vitest';
import { it, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';

overContainerd('a recording', () => {
  it('of an agent that was killed, and of the one after it, can be lived through in tests', async ({ node }) => {
    const file = join(node.directory, 'node.rec');
    node.apply({ name: 'steady', containers: [{ script: WAIT }] });
    node.apply({ name: 'looping', containers: [{ script: 'sleep 0.3; exit 1' }] });
    await node.start('--record', file);
    await node.reached('steady', 'CONTAINER_RUNNING');
    await node.reached('looping', 'CONTAINER_EXITED', { attempt: 2 });
    await node.kill('SIGKILL');
    await node.start('--record', file);
    node.apply({ name: 'another', containers: [{ script: 'sleep 0.3; exit 1' }] });
    await node.reached('another', 'CONTAINER_EXITED', { attempt: 2 });
    await node.kill('SIGTERM');
    for (const recording of [file, join(node.directory, 'node-2.rec')]) {
      const { code, stderr } = await node.run('replay', recording, '--to-test', `${recording}.test.ts`);
      expect([code, stderr]).toEqual([0, '']);
    }
  }, 480_000);
});

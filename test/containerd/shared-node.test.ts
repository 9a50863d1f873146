import { expect } from 'vitest';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();

overContainerd(
  'one node for all tests of a file',
  () => {
    it('may be left without an agent and without a runtime', async ({ node }) => {
      await node.kill('SIGKILL');
      await node.killRuntime('SIGKILL');
      expect([node.isAgentThere(), node.isRuntimeThere()]).toEqual([false, false]);
    });

    it('has both for the next test', async ({ node }) => {
      expect([node.isAgentThere(), node.isRuntimeThere()]).toEqual([true, true]);
      node.apply({ name: 'web' });
      await node.reached('web', 'CONTAINER_RUNNING');
    });
  },
  { alone: true },
);

import { it as baseIt, type TestAPI } from 'vitest';
import { keepLog } from '../embedded/daemon.js';
import { Cluster } from './cluster.js';
import { ClusterNode } from './cluster-node.js';

/**
 * `it` with a node of a cluster whose API server is of this file alone, for all tests of the file. The end of the agent's log comes with a
 * failure.
 */
export const itOnOwnServer = (
  name: string,
  prepare: (node: ClusterNode) => Promise<void> = async () => undefined,
): TestAPI<{ readonly own: ClusterNode; readonly node: ClusterNode }> =>
  baseIt.extend<{ readonly own: ClusterNode; readonly node: ClusterNode }>({
    own: [
      async ({}, use) =>
        Cluster.ofItsOwn(async (cluster) => {
          const node = new ClusterNode(cluster, name);
          try {
            await node.startRuntime();
            await node.start();
            await prepare(node);
            await use(node);
          } finally {
            await node.dispose();
          }
        }),
      { scope: 'file' },
    ],
    node: async ({ own, task, onTestFailed }, use) => {
      onTestFailed(() => keepLog(task, own));
      await use(own);
    },
  });

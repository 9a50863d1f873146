import { inject, it as baseIt, type TestAPI } from 'vitest';
import { Cluster } from './cluster.js';
import { ClusterNode } from './cluster-node.js';

/** The API server that all files share, started by whoever needs it first. */
export const sharedCluster = (): Promise<Cluster> => Cluster.up(inject('clusterFolder'));

/**
 * `it` with one node of the shared cluster for all tests of a file, which give their pods names of their own. It is ended after the
 * last one, in any case, and must never have asked for what a node may not have.
 */
export const onNode = (
  name: string,
  flags: (node: ClusterNode) => readonly string[] = () => [],
): TestAPI<{ readonly node: ClusterNode }> =>
  baseIt.extend<{ readonly node: ClusterNode }>({
    node: [
      async ({}, use) => {
        const cluster = await sharedCluster();
        const node = new ClusterNode(cluster, name);
        try {
          await node.startRuntime();
          await node.start(...flags(node));
          await use(node);
        } finally {
          await node.dispose();
          cluster.close();
        }
      },
      { scope: 'file' },
    ],
  });

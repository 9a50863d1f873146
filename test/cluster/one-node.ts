import { inject, type TestAPI } from 'vitest';
import { itOnShared } from '../containerd/shared-node.js';
import { Cluster } from './cluster.js';
import { ClusterNode } from './cluster-node.js';

/** The API server that all files share, started by the first file that needs it. */
export const sharedCluster = (): Promise<Cluster> => Cluster.up(inject('clusterFolder'));

/**
 * `it` with one node of the shared cluster for all tests of a file, which give their pods names of their own. It must never have asked for
 * what a node may not have.
 */
export const onNode = (
  name: string,
  flags: (node: ClusterNode) => readonly string[] = () => [],
): TestAPI<{ readonly node: ClusterNode }> =>
  itOnShared(async () => {
    const cluster = await sharedCluster();
    const node = new ClusterNode(cluster, name);
    return { node, start: () => node.start(...flags(node)), close: () => cluster.close() };
  });

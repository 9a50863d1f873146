import { ApiProxy } from '../support/api-proxy.js';
import { ClusterNode } from './cluster-node.js';
import { sharedCluster } from './one-node.js';

/** A node of the shared cluster whose agent asks a proxy instead of the API server. */
export const proxiedNode = async (
  name: string,
): Promise<{ readonly node: ClusterNode; readonly proxy: ApiProxy; readonly close: () => Promise<void> }> => {
  const cluster = await sharedCluster();
  // The certificate of the node is made with its kubeconfig.
  await cluster.kubeconfig(name);
  const { ca, ...front } = cluster.credentials('server');
  const { cert, key } = cluster.credentials(`node-${name}`);
  const proxy = await ApiProxy.start({ server: cluster.address, ca, front, back: { cert, key } });
  const node = new ClusterNode(cluster, name, async () => [
    '--kubeconfig',
    await cluster.kubeconfig(name, proxy.address),
  ]);
  const close = async (): Promise<void> => {
    await proxy.close();
    cluster.close();
  };
  return { node, proxy, close };
};

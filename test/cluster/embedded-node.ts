import { join } from 'node:path';
import type { Pod } from '../../src/model/pod/pod.js';
import { nodePath, podPath, podsPath } from '../../src/model/kube-api/api-paths.js';
import { Daemon, freePort } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { SLEEP } from '../embedded/manifests.js';
import type { Cluster } from './cluster.js';
import { type ApiNode, conditionOf } from './cluster-node.js';

type Container = Partial<Pod['spec']['containers'][number]> & { readonly script?: string };

/** The agent over the embedded runtime, as a node of a cluster. Its pods are in a namespace that is called like the node. */
export class EmbeddedNode extends Daemon {
  constructor(
    readonly cluster: Cluster,
    readonly nodeName: string,
  ) {
    super();
  }

  /** Starts the agent; resolves when the API shows its node as ready, and the kubelet API is served. */
  override async start(): Promise<void> {
    const { cluster, nodeName } = this;
    await cluster.namespace(nodeName);
    await super.start(
      ...['--kubeconfig', await cluster.kubeconfig(nodeName), '--hostname-override', nodeName],
      ...['--port', String(await freePort()), '--client-ca-file', join(cluster.folder, 'pki', 'ca.crt')],
    );
    await eventually(`${nodeName} is ready`, async () => {
      const node = await cluster.admin.find<ApiNode>(nodePath(nodeName));
      return node?.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    });
    await eventually('the kubelet API is served', () => this.log.includes('the kubelet API is served'));
  }

  /** Creates a pod of one container that is bound to this node; resolves when the API shows it as ready. */
  async runPod(name: string, { script = SLEEP, ...container }: Container = {}): Promise<void> {
    const main = { name: 'main', image: 'host', command: ['/bin/sh', '-c', script], ...container };
    await this.cluster.admin.create<Pod>(podsPath(this.nodeName), {
      metadata: { name },
      spec: { nodeName: this.nodeName, terminationGracePeriodSeconds: 1, restartPolicy: 'Never', containers: [main] },
    });
    await eventually(
      `${name} is ready`,
      async () => conditionOf(await this.cluster.admin.get<Pod>(podPath(this.nodeName, name)), 'Ready') === 'True',
    );
  }
}

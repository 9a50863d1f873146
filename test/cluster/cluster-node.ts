import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import { nodePath, podPath, podsPath } from '../../src/model/kube-api/api-paths.js';
import type { ContainerStatus, Pod } from '../../src/model/pod/pod.js';
import { ContainerdNode, BUSYBOX, WAIT } from '../containerd/containerd-node.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf, PodOf } from '../embedded/manifests.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import type { ListedContainer } from '../embedded/runtime-view.js';
import type { ApiUser } from './api-user.js';
import { trespasses } from './audit.js';
import type { Cluster } from './cluster.js';

/** A pod for the API: one container `main` that waits for good unless it says otherwise. */
export interface ApiPodOf extends PodOf {
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The fields of a `Node` that tests look at. */
export interface ApiNode extends ApiObject {
  readonly spec: { readonly taints?: readonly { readonly key: string }[]; readonly providerID?: string };
  readonly status: {
    readonly capacity: Readonly<Record<string, string>>;
    readonly allocatable: Readonly<Record<string, string>>;
    readonly addresses: readonly { readonly type: string; readonly address: string }[];
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
      readonly lastHeartbeatTime: string;
      readonly lastTransitionTime: string;
    }[];
    readonly nodeInfo: Readonly<Record<string, string>>;
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
    readonly images?: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
  };
}

export interface ApiEvent extends ApiObject {
  readonly involvedObject: {
    readonly kind: string;
    readonly name: string;
    readonly uid?: string;
    readonly fieldPath?: string;
  };
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly count?: number;
  readonly source: { readonly component?: string; readonly host?: string };
}

/** The node is written often, so that what a test waits for is there soon. */
const SETTINGS = {
  ...QUICK_RESTARTS,
  nodeStatusUpdateFrequency: '1s',
  nodeStatusReportFrequency: '2s',
  clusterDNS: ['10.0.0.10'],
  clusterDomain: 'cluster.local',
};

/** The agent over a containerd of its own, as a node of a cluster. Its pods are in a namespace that is called like the node. */
export class ClusterNode extends ContainerdNode {
  /** `flags` give the API server, and the user of the agent if it is not the node's. */
  constructor(
    readonly cluster: Cluster,
    readonly nodeName: string,
    private readonly flags: (node: ClusterNode) => Promise<readonly string[]> = async () => [
      '--kubeconfig',
      await cluster.kubeconfig(nodeName),
    ],
  ) {
    super();
  }

  /** More fields of the `KubeletConfiguration` of agents that start from now on. */
  fields: Readonly<Record<string, unknown>> = {};

  get admin(): ApiUser {
    return this.cluster.admin;
  }

  /** Starts the agent; resolves when the API shows its node as ready, by this agent's word. */
  override async start(...args: readonly string[]): Promise<void> {
    await this.cluster.namespace(this.nodeName);
    const since = this.log.length;
    await this.startAway(...args);
    await eventually(`${this.nodeName} is ready`, async () => (await this.ready()) === 'True').catch(
      (error: unknown) => {
        throw new Error(`${(error as Error).message}; the agent says: ${this.log.slice(since).slice(-4000)}`, {
          cause: error,
        });
      },
    );
  }

  /** The same, while the API server may be away: resolves when the agent serves. */
  async startAway(...args: readonly string[]): Promise<void> {
    const own = [...(await this.flags(this)), '--hostname-override', this.nodeName];
    // Many nodes share one machine.
    const settings = this.configuration({ ...SETTINGS, ...this.fields });
    await super.start(...own, '--port', '0', '--config', settings, ...args);
  }

  /** The node as the API shows it. */
  node(): Promise<ApiNode | undefined> {
    return this.admin.find<ApiNode>(nodePath(this.nodeName));
  }

  /** The status of the node's condition `Ready`. */
  async ready(): Promise<string | undefined> {
    return (await this.node())?.status.conditions.find(({ type }) => type === 'Ready')?.status;
  }

  // Pods

  /**
   * The agent has on its disk, for the one after it, pods with these names and objects with these keys, such as `Secret default/token`. It
   * starts a pod before that where the disk is slow.
   */
  async remembers(...wanted: readonly string[]): Promise<void> {
    await eventually(`the agent has ${wanted.join(', ')} on its disk`, () => {
      const found = new Set(lastKnown(join(this.rootDir, 'last-known')));
      return wanted.every((one) => found.has(one));
    });
  }

  /** Creates a pod that is bound to this node. */
  create(pod: ApiPodOf): Promise<Pod> {
    return this.admin.create<Pod>(podsPath(this.nodeName), apiPod(pod, this.nodeName));
  }

  path(name: string): string {
    return podPath(this.nodeName, name);
  }

  /** The pod as the API shows it, once `look` finds what it wants. */
  shown(name: string, what: string, look: (pod: Pod) => unknown): Promise<Pod> {
    let last: Pod | undefined;
    return eventually(`${name} ${what}`, async () => {
      last = await this.admin.get<Pod>(this.path(name));
      return look(last) === false ? undefined : last;
    }).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}; it is ${JSON.stringify(last?.status)}`, { cause: error });
    });
  }

  /** The pod once it is running and ready. */
  running(name: string): Promise<Pod> {
    return this.shown(name, 'runs', (pod) => pod.status?.phase === 'Running' && conditionOf(pod, 'Ready') === 'True');
  }

  ended(name: string, phase: 'Succeeded' | 'Failed'): Promise<Pod> {
    return this.shown(name, `has ${phase}`, ({ status }) => status?.phase === phase);
  }

  async gone(name: string): Promise<void> {
    await eventually(`${name} is gone`, async () => (await this.admin.find(this.path(name))) === undefined);
  }

  /** Containers of the pod as the runtime lists them, newest first. */
  async containersNamed(pod: string, name = 'main'): Promise<readonly ListedContainer[]> {
    const all = await this.containers();
    return all.filter((one) => one.pod === pod && one.name === name);
  }

  /** The container of a pod that has run has ended, with or without a report of its end. That of a deleted pod may be removed. */
  async containerHasEnded(pod: string): Promise<void> {
    await eventually(`the container of ${pod} has ended`, async () => {
      const containers = await this.containersNamed(pod);
      return containers.every(({ state }) => state === 'CONTAINER_EXITED');
    });
  }

  /** The container of the pod has been started again this many times, with or without a report of it. */
  async restarted(pod: string, attempt: number): Promise<void> {
    // A back-off of 20 s may end half as long later, by the jitter of the worker.
    await eventually(
      `${pod} has been started ${attempt} times again`,
      async () => {
        const [newest] = await this.containersNamed(pod);
        return (newest?.attempt ?? 0) >= attempt;
      },
      120_000,
    );
  }

  /** Events about an object in the node's namespace, as the API shows them. */
  async eventsOf(uid: string): Promise<readonly ApiEvent[]> {
    const events = await this.admin.list<ApiEvent>(
      `/api/v1/namespaces/${this.nodeName}/events?fieldSelector=involvedObject.uid%3D${uid}`,
    );
    return events.toSorted(
      (one, other) => Number(one.metadata.resourceVersion) - Number(other.metadata.resourceVersion),
    );
  }

  /** Requests of this node that it may not make. */
  trespasses(): readonly string[] {
    return trespasses(this.cluster.audit(), this.nodeName);
  }

  /** Ends everything. Errors: also when the node has ever asked for what it may not have. */
  override async dispose(): Promise<void> {
    await super.dispose();
    const found = this.trespasses();
    if (found.length > 0) throw new Error(`${this.nodeName} may not: ${found.join('\n')}`);
  }
}

export const conditionOf = ({ status }: Pod, type: string): string | undefined =>
  status?.conditions?.find((one) => one.type === type)?.status;

/** The status of a container of any kind. Errors: there is none. */
export const containerOf = ({ metadata, status }: Pod, name = 'main'): ContainerStatus => {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const found = all.find((one) => one.name === name);
  if (!found) throw new Error(`${metadata.name} has no status of ${name}`);
  return found;
};

const apiPod = (pod: ApiPodOf, nodeName: string): object => {
  const { name, labels, annotations, containers = [{}], initContainers, ...spec } = pod;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, annotations },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 2,
      ...spec,
      ...(initContainers && { initContainers: initContainers.map(container) }),
      containers: containers.map(container),
    },
  };
};

const container = ({ script = WAIT, ...own }: ContainerOf): object => ({
  name: 'main',
  image: BUSYBOX,
  imagePullPolicy: 'IfNotPresent',
  command: ['sh', '-c', script],
  ...own,
});

/** The names of the pods and the keys of the objects in the files of an agent. */
const lastKnown = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .flatMap((path) => {
      const { pods, key } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as {
        readonly pods?: readonly Pod[];
        readonly key?: string;
      };
      return [...(pods ?? []).map(({ metadata }) => metadata.name), ...(key === undefined ? [] : [key])];
    });

/** What a call is about, as far as it says so or its ids are known. */
export interface WhatItIsAbout {
  /** The name of the pod without that of the node. */
  readonly pod?: string;
  readonly container?: string;
  /** It asks for those of one pod, known or not, or for those with other labels. */
  readonly isSelective?: true;
}

interface Metadata {
  readonly metadata?: { readonly name?: string; readonly uid?: string };
}
/** The fields of requests that name something; each request has some of them. */
interface Naming {
  readonly config?: Metadata;
  readonly sandboxConfig?: Metadata;
  readonly podSandboxId?: string;
  readonly containerId?: string;
  readonly filter?: { readonly labelSelector?: Readonly<Record<string, string>> };
}
interface Listed extends Metadata {
  readonly id: string;
  readonly podSandboxId?: string;
}

const POD_UID = 'io.kubernetes.pod.uid';
const NODE = /-node1$/;

/** Learns from calls and their answers which ids belong to which pods and containers. */
export class CallNames {
  private readonly pods = new Map<string, string>();
  private readonly sandboxes = new Map<string, string>();
  private readonly containers = new Map<string, WhatItIsAbout>();

  of(request: Naming): WhatItIsAbout {
    const { config, sandboxConfig, podSandboxId = '', containerId = '', filter } = request;
    if (sandboxConfig) return { pod: nameIn(sandboxConfig), container: config?.metadata?.name };
    if (config) return { pod: nameIn(config) };
    const labels = filter?.labelSelector ?? {};
    const uid = labels[POD_UID];
    if (uid !== undefined) return { pod: this.pods.get(uid), isSelective: true };
    if (Object.keys(labels).length > 0) return { isSelective: true };
    return this.containers.get(containerId) ?? { pod: this.sandboxes.get(podSandboxId) };
  }

  learn(method: string, request: Naming, answer: object): void {
    const about = this.of(request);
    const { podSandboxId, containerId, items, containers } = answer as {
      readonly podSandboxId?: string;
      readonly containerId?: string;
      readonly items?: readonly Listed[];
      readonly containers?: readonly Listed[];
    };
    if (method === 'runPodSandbox' && podSandboxId && request.config) {
      this.addSandbox({ id: podSandboxId, metadata: request.config.metadata });
    }
    if (method === 'createContainer' && containerId) this.containers.set(containerId, about);
    if (method === 'listPodSandbox') for (const sandbox of items ?? []) this.addSandbox(sandbox);
    if (method === 'listContainers') {
      for (const { id, podSandboxId: sandbox = '', metadata } of containers ?? []) {
        this.containers.set(id, { pod: this.sandboxes.get(sandbox), container: metadata?.name });
      }
    }
  }

  private addSandbox({ id, metadata }: Pick<Listed, 'id' | 'metadata'>): void {
    const pod = nameIn({ metadata });
    if (pod === undefined) return;
    this.sandboxes.set(id, pod);
    if (metadata?.uid) this.pods.set(metadata.uid, pod);
  }
}

const nameIn = ({ metadata }: Metadata): string | undefined => metadata?.name?.replace(NODE, '');

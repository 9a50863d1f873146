import { join } from 'node:path';
import { firstValueFrom, type Observable } from 'rxjs';
import type { ContainerState, ContainerStatus, PodSandboxState } from '../../src/generated/runtime/v1/api.js';
import { isCriError } from '../../src/model/cri/cri-error.js';
import { type CriClient, criClient } from '../../src/runtime/cri-client.js';
import { childrenOf, type ProcessId } from '../../src/runtime/embedded/confinement/process-tree.js';
import type { RuntimeService } from '../../src/streams/ports/runtime-service.js';
import { AgentFiles, NODE_NAME } from './agent-files.js';
import { eventually } from './eventually.js';
import { markOf } from './manifests.js';
import { processesWithVariable } from './processes.js';

/** A container as the runtime lists it. */
export interface ListedContainer {
  readonly id: string;
  /** Of the pod, with the name of the node. */
  readonly pod: string;
  readonly uid: string;
  readonly name: string;
  readonly state: ContainerState;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly createdAt: bigint;
}

/** A pod's sandbox as the runtime lists it. */
export interface ListedSandbox {
  readonly id: string;
  readonly pod: string;
  readonly uid: string;
  readonly state: PodSandboxState;
  readonly labels: Readonly<Record<string, string>>;
}

/** What can be seen of pods from outside: what the runtime says by CRI, and processes. */
export class RuntimeView extends AgentFiles {
  private client: CriClient | undefined;
  private readonly clients: CriClient[] = [];

  protected get runtimeSocket(): string {
    return join(this.rootDir, 'runtime', 'runtime.sock');
  }

  /** One call to the runtime. Errors: those of the call; when the runtime was away the next one has a new connection. */
  async ask<T>(call: (runtime: RuntimeService) => Observable<T>): Promise<T> {
    const client = (this.client ??= this.connect());
    try {
      return await firstValueFrom(call(client.runtime));
    } catch (error) {
      // Calls of others may be under way on the old one; it is closed in the end.
      if (isCriError(error, 'unavailable') && this.client === client) this.client = undefined;
      throw error;
    }
  }

  private connect(): CriClient {
    const client = criClient({ endpoint: `unix://${this.runtimeSocket}`, requestTimeoutMs: 60_000 });
    this.clients.push(client);
    return client;
  }

  /** Every container that the runtime has, newest first. */
  async containers(): Promise<readonly ListedContainer[]> {
    const { containers } = await this.ask((runtime) => runtime.listContainers({}));
    return containers
      .map(({ id, labels, state, podSandboxId, createdAt, metadata }) => ({
        ...{ id, state, createdAt, sandboxId: podSandboxId, attempt: metadata?.attempt ?? 0 },
        pod: labels['io.kubernetes.pod.name'] ?? '',
        uid: labels['io.kubernetes.pod.uid'] ?? '',
        name: labels['io.kubernetes.container.name'] ?? '',
      }))
      .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
  }

  /** Containers of the pod, newest first. */
  async containersOf(pod: string, name?: string): Promise<readonly ListedContainer[]> {
    const all = await this.containers();
    return all.filter((one) => one.pod === `${pod}-${NODE_NAME}` && (name === undefined || one.name === name));
  }

  async sandboxes(): Promise<readonly ListedSandbox[]> {
    const { items } = await this.ask((runtime) => runtime.listPodSandbox({}));
    return items.map(({ id, state, labels, metadata }) => ({
      ...{ id, state, labels, pod: metadata?.name ?? '', uid: metadata?.uid ?? '' },
    }));
  }

  async status(containerId: string): Promise<ContainerStatus> {
    const { status } = await this.ask((runtime) => runtime.containerStatus({ containerId }));
    if (!status) throw new Error(`a container status without a status: ${containerId}`);
    return status;
  }

  /** The status of the newest instance once it is in that state, and of that attempt or a later one. */
  reached(pod: string, state: ContainerState, { name = 'main', attempt = 0 } = {}): Promise<ContainerStatus> {
    return eventually(`${pod}/${name} is ${state}, attempt ${attempt} or later`, async () => {
      const [newest] = await this.containersOf(pod, name);
      if (!newest || newest.attempt < attempt || newest.state !== state) return undefined;
      return this.status(newest.id);
    });
  }

  /** The one process of a container that has no children; resolves when it is there. */
  processOf(pod: string, name = 'main'): Promise<ProcessId> {
    return eventually(`there is one process of ${pod}/${name}`, () => {
      const [first, ...more] = this.processesOf(pod, name);
      return more.length === 0 ? first : undefined;
    });
  }

  /** The process of a container that has begun before its others, which it has started; resolves when it is there. */
  firstProcessOf(pod: string, name = 'main'): Promise<ProcessId> {
    return eventually(`there is a process of ${pod}/${name}`, () => {
      const all = this.processesOf(pod, name);
      const started = new Set(all.flatMap(({ pid }) => childrenOf(pid)));
      return all.find(({ pid }) => !started.has(pid));
    });
  }

  processesOf(pod: string, name = 'main'): ProcessId[] {
    return processesWithVariable(markOf(this.directory, pod, name));
  }

  protected closeClients(): void {
    for (const client of this.clients) client.close();
  }
}

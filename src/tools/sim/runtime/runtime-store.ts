import { POD_UID } from '../../../model/cri/labels.js';
import { CriError } from '../../../model/cri/cri-error.js';
import type { SimulatedInstance, SimulatedPodSandbox } from '../world/world-event.js';
import type { SimulatedContainer } from './container.js';
import type { SimulatedSandbox } from './sandbox.js';

interface OfPod {
  readonly sandboxes: Set<SimulatedSandbox>;
  readonly containers: Set<SimulatedContainer>;
}

/** The contents of the simulated runtime, by id and by pod. */
export class RuntimeStore {
  readonly sandboxes = new Map<string, SimulatedSandbox>();
  readonly containers = new Map<string, SimulatedContainer>();
  /** The owner of each address. */
  readonly #byIp = new Map<string, SimulatedSandbox>();
  readonly #inSandbox = new Map<string, Set<SimulatedContainer>>();
  readonly #ofPod = new Map<string, OfPod>();
  /** The owner of each name. */
  readonly #names = new Map<string, string>();

  /** Errors: the name has another owner. */
  reserve(call: string, what: 'sandbox' | 'container', name: string, id: string): void {
    const owner = this.#names.get(name);
    if (owner !== undefined) {
      const why = `failed to reserve ${what} name "${name}": name "${name}" is reserved for "${owner}"`;
      throw new CriError('unknown', call, why);
    }
    this.#names.set(name, id);
  }

  release(name: string): void {
    this.#names.delete(name);
  }

  /** Releases names whose owners are not in the store. */
  forgetUnborn(): void {
    for (const [name, id] of this.#names) {
      if (!this.sandboxes.has(id) && !this.containers.has(id)) this.#names.delete(name);
    }
  }

  addSandbox(sandbox: SimulatedSandbox): void {
    this.sandboxes.set(sandbox.id, sandbox);
    this.#inSandbox.set(sandbox.id, new Set());
    if (sandbox.ip !== '') this.#byIp.set(sandbox.ip, sandbox);
    this.#of(sandbox.labels).sandboxes.add(sandbox);
  }

  addContainer(container: SimulatedContainer): void {
    this.containers.set(container.id, container);
    this.#inSandbox.get(container.sandbox.id)?.add(container);
    this.#of(container.labels).containers.add(container);
  }

  removeSandbox(sandbox: SimulatedSandbox): void {
    this.sandboxes.delete(sandbox.id);
    this.#inSandbox.delete(sandbox.id);
    this.#byIp.delete(sandbox.ip);
    this.#of(sandbox.labels).sandboxes.delete(sandbox);
    this.#forgetEmpty(sandbox.labels);
    this.release(sandboxName(sandbox.told));
  }

  removeContainer(container: SimulatedContainer): void {
    this.containers.delete(container.id);
    this.#inSandbox.get(container.sandbox.id)?.delete(container);
    this.#of(container.labels).containers.delete(container);
    this.#forgetEmpty(container.labels);
    this.release(containerName(container.told));
  }

  /** In the order of creation. */
  containersIn({ id }: Pick<SimulatedSandbox, 'id'>): readonly SimulatedContainer[] {
    return [...(this.#inSandbox.get(id) ?? [])];
  }

  /** The ready sandbox with this address of its own. */
  sandboxAt(ip: string): SimulatedSandbox | undefined {
    const sandbox = this.#byIp.get(ip);
    return sandbox?.isReady ? sandbox : undefined;
  }

  /** The items that may match a selector; those of one pod if it names one. */
  sandboxesFor(selector: Selector): Iterable<SimulatedSandbox> {
    const uid = selector?.[POD_UID];
    return uid === undefined ? this.sandboxes.values() : (this.#ofPod.get(uid)?.sandboxes ?? []);
  }

  containersFor(selector: Selector): Iterable<SimulatedContainer> {
    const uid = selector?.[POD_UID];
    return uid === undefined ? this.containers.values() : (this.#ofPod.get(uid)?.containers ?? []);
  }

  /** Errors: not found, with containerd's text. */
  sandbox(call: string, id = ''): SimulatedSandbox {
    const sandbox = this.sandboxes.get(id);
    if (sandbox) return sandbox;
    throw new CriError('not-found', call, `an error occurred when try to find sandbox: not found`);
  }

  /** Errors: not found, with containerd's text. */
  container(call: string, id = ''): SimulatedContainer {
    const container = this.containers.get(id);
    if (container) return container;
    throw new CriError('not-found', call, `an error occurred when try to find container "${id}": not found`);
  }

  #of(labels: Readonly<Record<string, string>>): OfPod {
    const uid = labels[POD_UID] ?? '';
    let own = this.#ofPod.get(uid);
    if (!own) this.#ofPod.set(uid, (own = { sandboxes: new Set(), containers: new Set() }));
    return own;
  }

  #forgetEmpty(labels: Readonly<Record<string, string>>): void {
    const { sandboxes, containers } = this.#of(labels);
    if (sandboxes.size === 0 && containers.size === 0) this.#ofPod.delete(labels[POD_UID] ?? '');
  }
}

export type Selector = Readonly<Record<string, string | undefined>> | undefined;

/** Whether the labels contain those of the selector. */
export const selects = (selector: Selector, labels: Readonly<Record<string, string>>): boolean => {
  for (const key in selector) if (labels[key] !== selector[key]) return false;
  return true;
};

export const sandboxName = (named: Omit<SimulatedPodSandbox, 'sandboxId'>): string =>
  `${named.pod}_${named.namespace}_${named.uid}_${named.attempt}`;

export const containerName = (
  named: Pick<SimulatedInstance, 'container' | 'pod' | 'namespace' | 'uid' | 'attempt'>,
): string => `${named.container}_${named.pod}_${named.namespace}_${named.uid}_${named.attempt}`;

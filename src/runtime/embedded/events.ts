import type {
  ContainerEventResponse,
  ContainerEventType,
  ContainerStatus,
  PodSandboxStatus,
} from '../../generated/runtime/v1/api.js';
import { nowNs } from './clock.js';

type Listener = (event: ContainerEventResponse) => void;

/** Tells every present listener what happened to which container or sandbox. Nothing is kept for later ones. */
export class EventHub {
  private readonly listeners = new Set<Listener>();

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** `describe` is only asked while somebody listens. */
  emit(
    containerId: string,
    containerEventType: ContainerEventType,
    describe: () => { sandbox: PodSandboxStatus | undefined; containers: ContainerStatus[] },
  ): void {
    if (this.listeners.size === 0) return;
    const { sandbox, containers } = describe();
    const event = {
      containerId,
      containerEventType,
      createdAt: nowNs(),
      podSandboxStatus: sandbox,
      containersStatuses: containers,
    };
    for (const listener of this.listeners) listener(event);
  }
}

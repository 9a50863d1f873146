import type {
  ContainerEventResponse,
  ContainerEventType,
  ContainerStatus,
  PodSandboxStatus,
} from '../../../generated/runtime/v1/api.js';
import { nowNs } from '../machine/clock.js';

type Listener = (event: ContainerEventResponse) => void;

/**
 * Emits the events of containers and sandboxes to the current listeners. Later listeners do not receive earlier events.
 */
export class EventHub {
  private readonly listeners = new Set<Listener>();

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** `describe` is called only while there are listeners. */
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

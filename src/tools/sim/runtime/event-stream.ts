import { Observable, type Subscriber } from 'rxjs';
import type { ContainerEventResponse, ContainerEventType } from '../../../generated/runtime/v1/api.js';
import { CriError } from '../../../model/cri/cri-error.js';
import type { SimulatedSandbox } from './sandbox.js';
import type { RuntimeStore } from './runtime-store.js';
import type { RuntimeWorld } from './runtime-world.js';

const CALL = 'GetContainerEvents';

/** The stream of container events. Events without a listener are lost. */
export class EventStream {
  readonly #listeners = new Set<Subscriber<ContainerEventResponse>>();
  readonly #onTheWay: ContainerEventResponse[] = [];
  readonly #random;
  #lastAt = 0;

  constructor(
    private readonly world: RuntimeWorld,
    private readonly store: Pick<RuntimeStore, 'containersIn'>,
  ) {
    this.#random = world.random.fork('events');
  }

  /** Emits an event of a container, or of the sandbox itself. A removed sandbox is left out of its own event. */
  send(what: 'CREATED' | 'STARTED' | 'STOPPED' | 'DELETED', id: string, sandbox: SimulatedSandbox): void {
    if (this.#listeners.size === 0) return;
    const { scheduler, daemon, clock, behaviours } = this.world;
    const isGone = what === 'DELETED' && id === sandbox.id;
    const containerEventType: ContainerEventType = `CONTAINER_${what}_EVENT`;
    this.#onTheWay.push({
      containerId: id,
      containerEventType,
      createdAt: BigInt(clock.now()) * 1_000_000n,
      podSandboxStatus: isGone ? undefined : sandbox.status,
      containersStatuses: this.store.containersIn(sandbox).map(({ status }) => status),
    });
    // One connection: events may be late, but they never overtake each other.
    const { min, max } = behaviours.eventMs ?? { min: 0, max: 2 };
    const now = scheduler.now();
    this.#lastAt = Math.max(this.#lastAt, now + this.#random.integer(min, max));
    daemon().schedule(() => {
      const event = this.#onTheWay.shift();
      if (event) for (const listener of [...this.#listeners]) listener.next(event);
    }, this.#lastAt - now);
  }

  /** Breaks the connection of every listener. */
  break(): void {
    this.#onTheWay.length = 0;
    for (const listener of [...this.#listeners]) {
      listener.error(new CriError('unavailable', CALL, 'error reading from server: EOF'));
    }
  }

  /** Errors: `unavailable` if the daemon is away or stops; `unimplemented` if it has no events. */
  listen(isUp: () => boolean): Observable<ContainerEventResponse> {
    const { scheduler, behaviours, random } = this.world;
    return new Observable((subscriber) => {
      const { max } = behaviours.callMs ?? { min: 0, max: 1 };
      subscriber.add(
        scheduler.schedule(
          () => {
            if (!isUp()) return subscriber.error(new CriError('unavailable', CALL, 'connection refused'));
            if (behaviours.tellsNoEvents) {
              return subscriber.error(new CriError('unimplemented', CALL, `method ${CALL} not implemented`));
            }
            this.#listeners.add(subscriber);
          },
          random.integer(0, max),
        ),
      );
      return () => this.#listeners.delete(subscriber);
    });
  }
}

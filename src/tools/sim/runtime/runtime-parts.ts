import type { CallTransport } from './call-transport.js';
import type { EventStream } from './event-stream.js';
import type { ImageStore } from './image-store.js';
import type { Processes } from './processes.js';
import type { RuntimeStore } from './runtime-store.js';
import type { RuntimeWorld } from './runtime-world.js';

/** The parts of the runtime that its calls use. */
export interface RuntimeParts {
  readonly world: RuntimeWorld;
  readonly transport: CallTransport;
  readonly store: RuntimeStore;
  readonly events: EventStream;
  readonly processes: Processes;
  readonly images: ImageStore;
  readonly newId: () => string;
  readonly stamp: () => bigint;
}

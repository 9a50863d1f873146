import { mkdirSync, rmSync } from 'node:fs';
import { Server } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../generated/runtime/v1/api.js';
import type { Logger } from '../../streams/ports.js';
import { Containers } from './containers.js';
import { EventHub } from './events.js';
import { imageService } from './image-service.js';
import { probeIsolation } from './isolation.js';
import { runtimeService } from './runtime-service.js';
import { Sandboxes } from './sandboxes.js';
import { bindSocket, claimSocket } from './socket.js';
import { lockState } from './state-lock.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** How often processes are looked at that are no children of this process and whose end nothing else might report. */
const SLOW_CHECK_MS = 10_000;
const CLOSE_MS = 500;

export interface EmbeddedRuntimeOptions {
  readonly socketPath: string;
  /** Keeps what a restart needs; containers' raw output passes through it. */
  readonly stateDirectory: string;
  readonly log: Logger;
}

export interface EmbeddedRuntime {
  /** Stops serving and leaves the containers running; a runtime started later goes on with them. */
  readonly close: () => Promise<void>;
  /** What could not be isolated, in words. */
  readonly isolation: readonly string[];
}

/**
 * Serves CRI v1 on a unix socket and runs containers as processes of this machine. Resolves when it serves, which is after everything that
 * an earlier runtime left has been adopted. Errors: another runtime serves the socket or uses the state directory; the socket path is too long.
 */
export const startEmbeddedRuntime = async (options: EmbeddedRuntimeOptions): Promise<EmbeddedRuntime> => {
  const { socketPath, stateDirectory, log } = options;
  mkdirSync(stateDirectory, { recursive: true, mode: 0o711 });
  // Before anything is looked at: two that start at the same time would spoil each other's state, and the socket.
  const unlock = await lockState(stateDirectory);
  try {
    await claimSocket(socketPath);
  } catch (error) {
    unlock();
    throw error;
  }
  const isolation = probeIsolation();
  log.info({ notIsolated: isolation.missing }, 'what the embedded runtime cannot isolate on this machine');

  const events = new EventHub();
  const sandboxes: Sandboxes = new Sandboxes(stateDirectory, isolation, log, (sandbox) =>
    events.emit(sandbox.id, 'CONTAINER_STOPPED_EVENT', () => describe(sandbox.id)),
  );
  const containers: Containers = new Containers(stateDirectory, isolation, sandboxes, log, (container, change) =>
    events.emit(container.id, change, () => describe(container.sandbox.id)),
  );
  const describe = (sandboxId: string) => {
    const sandbox = sandboxes.find(sandboxId);
    return {
      sandbox: sandbox && sandboxes.status(sandbox),
      containers: containers.ofSandbox(sandboxId).map(containers.status),
    };
  };
  await sandboxes.adopt();
  await containers.adopt();
  const slowCheck = watchAdopted(sandboxes, containers);

  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  });
  server.addService(
    RuntimeServiceService,
    runtimeService({ isolation, sandboxes, containers, events, stateDirectory, log }),
  );
  server.addService(ImageServiceService, imageService(stateDirectory, log));
  try {
    await bindSocket(server, socketPath);
  } catch (error) {
    unlock();
    throw error;
  }
  return {
    isolation: isolation.missing,
    close: async () => {
      clearInterval(slowCheck);
      await new Promise<void>((resolve) => {
        const force = setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, CLOSE_MS);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      });
      containers.close();
      rmSync(socketPath, { force: true });
      unlock();
    },
  };
};

/** Looks slowly while something adopted runs, and not at all otherwise. */
const watchAdopted = (sandboxes: Sandboxes, containers: Containers): NodeJS.Timeout => {
  const timer = setInterval(() => {
    sandboxes.checkHolders();
    if (!containers.checkAdopted() && !sandboxes.hasAdopted()) clearInterval(timer);
  }, SLOW_CHECK_MS);
  return timer.unref();
};

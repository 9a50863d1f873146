import { Server } from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri/cri-error.js';
import { lowDescriptorLimit } from '../../model/node/low-descriptor-limit.js';
import type { Logger } from '../../streams/ports/logger.js';
import { markFormat, requireFormat } from '../../processes/state-format.js';
import { delayMs } from './machine/clock.js';
import { Containers } from './containers/containers.js';
import { EventHub } from './service/events.js';
import { imageService } from './images/image-service.js';
import { instanceOf } from './machine/instance.js';
import { probeIsolation } from './confinement/isolation.js';
import { makeDirectories, readIfThere, rmSync } from './machine/machine.js';
import { endOrphans } from './confinement/orphans.js';
import { runtimeService } from './service/runtime-service.js';
import { Sandboxes } from './sandboxes/sandboxes.js';
import { bindSocket, claimSocket } from './machine/socket.js';
import { streamingCalls } from './streaming/streaming-calls.js';
import { type DirectoryLock, whenLost } from './state/directory-lock.js';
import { lockState, stateLockPath } from './state/state-lock.js';

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** The period of checks for processes that are no children of this process and whose end no event may report. */
const SLOW_CHECK_MS = 10_000;
const CLOSE_MS = 500;

export interface EmbeddedRuntimeOptions {
  readonly socketPath: string;
  /** The directory of the state that a restart needs; containers' raw output passes through it. */
  readonly stateDirectory: string;
  readonly log: Logger;
  /** The version and build of the program, for an agent that replaces a runtime of another one. */
  readonly version?: string;
  readonly build?: string;
}

export interface EmbeddedRuntime {
  /**
   * Stops serving and leaves the containers running; the next runtime continues them. Open sessions end with a word. Resolves after some
   * seconds at most, also if a step of it fails. Errors: none.
   */
  readonly close: () => Promise<void>;
  /** One text for each resource that is not isolated. */
  readonly isolation: readonly string[];
  /**
   * Resolves when the state directory was removed or replaced. By then the runtime manages no container any more, and
   * containers whose records were removed have ended, since no later runtime could find them. Then the process has to
   * end: closing the runtime would remove the socket of its successor.
   */
  readonly lost: Promise<void>;
}

/**
 * Serves CRI v1 on a unix socket and runs containers as processes of this machine. Resolves when it serves, after
 * everything left by an earlier runtime was adopted. Errors: another runtime serves the socket or uses the state
 * directory; the state is of a later format; the socket path is too long.
 */
export const startEmbeddedRuntime = async (options: EmbeddedRuntimeOptions): Promise<EmbeddedRuntime> => {
  const { socketPath, stateDirectory, version = 'of an unknown version', build } = options;
  makeDirectories(stateDirectory, 0o711);
  // First of all: two runtimes that start at the same time would damage each other's state, and the socket.
  const lock = lockState(stateDirectory, build);
  try {
    requireFormat(stateDirectory);
    markFormat(stateDirectory, version, options.log);
    await claimSocket(socketPath);
    return await serve(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
};

/** Errors: as above, and the state of the machine cannot be read; then nothing has been changed. */
const serve = async (
  { socketPath, stateDirectory, log }: EmbeddedRuntimeOptions,
  lock: DirectoryLock,
): Promise<EmbeddedRuntime> => {
  const instance = instanceOf(stateDirectory);
  const isolation = probeIsolation(instance);
  log.info({ notIsolated: isolation.missing }, 'some resources are not isolated on this machine');
  const lowLimit = lowDescriptorLimit(readIfThere('/proc/self/limits') ?? '', 'embedded runtime');
  if (lowLimit !== undefined) log.warn({}, lowLimit);

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
  const streaming = streamingCalls({ isolation, containers, sandboxes, log });
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  });
  try {
    await sandboxes.adopt();
    await containers.adopt();
    const sandboxIds = sandboxes.ids();
    const marks = new Set([...containers.marks(), ...[...sandboxIds].map(instance.markOf)]);
    await endOrphans({ instance, cgroups: isolation.cgroups, sandboxIds, marks, log });
    server.addService(
      RuntimeServiceService,
      runtimeService({ isolation, sandboxes, containers, events, streaming, stateDirectory, log }),
    );
    server.addService(ImageServiceService, imageService(stateDirectory, log));
    await bindSocket(server, socketPath);
  } catch (error) {
    // The next runtime must find the state unchanged.
    await Promise.all([containers.close(), sandboxes.close()]);
    server.forceShutdown();
    throw error;
  }
  const slowCheck = watchAdopted(sandboxes, containers);
  let stopWatching = (): void => undefined;
  const lost = new Promise<void>((resolve) => {
    stopWatching = whenLost(lock, stateLockPath(stateDirectory), () => {
      clearInterval(slowCheck);
      resolve(abandon(sandboxes, containers, log));
    });
  });
  return {
    isolation: isolation.missing,
    lost,
    close: async () => {
      stopWatching();
      clearInterval(slowCheck);
      const step = (what: string, work: () => unknown): Promise<void> => endStep(what, work, log);
      await step('end the sessions', streaming.close);
      await step('end the calls', () => shutDown(server));
      await step('complete the state', () => Promise.all([containers.close(), sandboxes.close()]));
      await step('remove the socket', () => rmSync(socketPath, { force: true }));
      lock.release();
    },
  };
};

/** The time of each step of an end. Containers and their state are safe at any moment, so that none is waited for longer. */
const STEP_MS = 3_000;

/** Does a step of the end of a runtime. If it fails, the steps after it are done and the process ends, also when the program on the disk has gone. */
const endStep = async (what: string, work: () => unknown, log: Logger): Promise<void> => {
  let late: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`not within ${STEP_MS / 1000} s`)), STEP_MS);
  });
  try {
    await Promise.race([(async () => work())(), limit]);
  } catch (error) {
    log.warn({ error: errorText(error) }, `the runtime that ends could not ${what}`);
  } finally {
    clearTimeout(late);
  }
};

const shutDown = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const force = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, CLOSE_MS);
    server.tryShutdown(() => {
      clearTimeout(force);
      resolve();
    });
  });

/** Checks slowly while there are adopted sandboxes or containers, and not at all otherwise. */
const watchAdopted = (sandboxes: Sandboxes, containers: Containers): NodeJS.Timeout => {
  const timer = setInterval(() => {
    sandboxes.checkHolders();
    if (!containers.checkAdopted() && !sandboxes.hasAdopted()) clearInterval(timer);
  }, SLOW_CHECK_MS);
  return timer.unref();
};

/** A removal takes time: the lock may be removed long before the last record. */
const REMOVAL_MS = 2_000;

/** Leaves everything to a successor, except the containers and sandboxes that it will never find. */
const abandon = async (sandboxes: Sandboxes, containers: Containers, log: Logger): Promise<void> => {
  await Promise.all([containers.close(), sandboxes.close()]);
  await delayMs(REMOVAL_MS);
  const lost = [...containers.endLost(), ...sandboxes.endLost()];
  const failures = (await Promise.allSettled(lost)).filter((result) => result.status === 'rejected');
  log.error({ ended: lost.length, failed: failures.length }, 'the state directory was removed or replaced');
};

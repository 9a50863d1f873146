import { resolve } from 'node:path';
import { startEmbeddedRuntime } from '../../runtime/embedded/server.js';
import { closeDescriptors, inheritedDescriptors } from '../runtime/inherited-descriptors.js';
import type { Logger } from '../../streams/ports/logger.js';

export interface RuntimeOptions {
  readonly socketPath: string;
  readonly stateDirectory: string;
  readonly log: Logger;
  readonly version: string;
  readonly build: string;
}

/**
 * Serves the embedded runtime until `signal`; its containers keep running. Also ends, with exit code 1, when its state
 * directory was removed or replaced.
 *
 * Errors: it cannot start, such as with a state of a later format.
 */
export const serveRuntime = async (options: RuntimeOptions, signal: AbortSignal): Promise<void> => {
  // Before anything is opened: containers are started by this process.
  closeDescriptors(inheritedDescriptors());
  const socketPath = resolve(options.socketPath);
  const stateDirectory = resolve(options.stateDirectory);
  // The runtime outlives the shell and the agent that started it, and must not use their working directory.
  process.chdir('/');
  const runtime = await startEmbeddedRuntime({ ...options, socketPath, stateDirectory });
  options.log.info({ socket: options.socketPath, missing: runtime.isolation }, 'the embedded runtime serves');
  const stopped = new Promise<'stopped'>((resolve) => {
    if (signal.aborted) resolve('stopped');
    else signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
  const how = await Promise.race([stopped, runtime.lost]);
  if (how === 'stopped') return runtime.close();
  options.log.error({ stateDirectory }, 'this runtime ends, since its state directory was removed or replaced');
  process.exitCode = 1;
};

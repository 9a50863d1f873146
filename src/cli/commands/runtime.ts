import { resolve } from 'node:path';
import { startEmbeddedRuntime } from '../../runtime/embedded/server.js';
import type { Logger } from '../../streams/ports.js';

export interface RuntimeOptions {
  readonly socketPath: string;
  readonly stateDirectory: string;
  readonly log: Logger;
}

/** Serves the embedded runtime until `signal`; its containers stay. Errors: it cannot start. */
export const serveRuntime = async (options: RuntimeOptions, signal: AbortSignal): Promise<void> => {
  const socketPath = resolve(options.socketPath);
  const stateDirectory = resolve(options.stateDirectory);
  // It outlives the shell and the agent that started it, and must not hold on to their directory.
  process.chdir('/');
  const runtime = await startEmbeddedRuntime({ ...options, socketPath, stateDirectory });
  options.log.info({ socket: options.socketPath, missing: runtime.isolation }, 'the embedded runtime serves');
  if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
  await runtime.close();
};

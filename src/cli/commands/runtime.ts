import { startEmbeddedRuntime } from '../../runtime/embedded/server.js';
import type { Logger } from '../../streams/ports.js';

export interface RuntimeOptions {
  readonly socketPath: string;
  readonly stateDirectory: string;
  readonly log: Logger;
}

/** Serves the embedded runtime until `signal`; its containers stay. Errors: it cannot start. */
export const serveRuntime = async (options: RuntimeOptions, signal: AbortSignal): Promise<void> => {
  const runtime = await startEmbeddedRuntime(options);
  options.log.info({ socket: options.socketPath, missing: runtime.isolation }, 'the embedded runtime serves');
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await runtime.close();
};

/** Serves the embedded runtime in a process of its own: `serve.ts <socket> <state directory>`. Says `serving` when it does. */
import { startEmbeddedRuntime } from '../../../src/runtime/embedded/server.js';

const [, , socketPath = '', stateDirectory = ''] = process.argv;
const say =
  (level: string) =>
  (fields: object, message: string): void =>
    void process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`);
const log = { debug: () => undefined, info: say('info'), warn: say('warn'), error: say('error') };

try {
  const runtime = await startEmbeddedRuntime({ socketPath, stateDirectory, log });
  process.once('SIGTERM', () => void runtime.close().then(() => process.exit(0)));
  void runtime.lost.then(() => process.exit(1));
  process.stdout.write(`serving ${JSON.stringify(runtime.isolation)}\n`);
} catch (error) {
  process.stderr.write(`fatal ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { processId, type ProcessId } from './process-tree.js';

/**
 * Makes this process the only runtime on the state directory until the result is called, or until it ends in whatever way: the
 * lock is a socket without a file, which the kernel takes back. `runtime.json` only tells who has it.
 *
 * Errors: `another runtime (process N) already uses <directory>`.
 */
export const lockState = async (stateDirectory: string): Promise<() => void> => {
  const path = join(stateDirectory, 'runtime.json');
  const name = createHash('sha256').update(realpathSync(stateDirectory)).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(`\0rx-embedded-${name}`);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`another runtime (process ${ownerIn(path)}) already uses ${stateDirectory}`, { cause: error });
  }
  server.unref();
  writeFileSync(path, JSON.stringify(processId(process.pid)), { mode: 0o600 });
  return () => {
    rmSync(path, { force: true });
    server.close();
  };
};

/** Unknown while the owner has not written itself down yet. */
const ownerIn = (path: string): string => {
  try {
    return String((JSON.parse(readFileSync(path, 'utf8')) as ProcessId).pid);
  } catch {
    return 'unknown';
  }
};

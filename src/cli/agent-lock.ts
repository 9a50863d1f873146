import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, realpathSync } from 'node:fs';
import { connect, createServer } from 'node:net';

export interface AgentLock {
  readonly release: () => void;
}

/**
 * Makes this process the only agent on the directory, until it releases it or ends in whatever way: the lock is a socket
 * without a file, which the kernel takes back. Whoever connects to it is told the process id.
 *
 * Errors: `another agent (pid N) already uses <directory>`.
 */
export const lockRootDir = async (rootDir: string): Promise<AgentLock> => {
  mkdirSync(rootDir, { recursive: true });
  const name = `\0rx-kubelet-${createHash('sha256').update(realpathSync(rootDir)).digest('hex').slice(0, 32)}`;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(String(process.pid));
  });
  try {
    server.listen(name);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`another agent (pid ${await pidOf(name)}) already uses ${rootDir}`, { cause: error });
  }
  return { release: () => void server.close() };
};

const pidOf = async (name: string): Promise<string> => {
  const socket = connect(name).setEncoding('utf8');
  socket.setTimeout(1000, () => socket.destroy());
  let text = '';
  try {
    for await (const part of socket) text += String(part);
  } catch {
    // It went away meanwhile, or hangs; that it has the lock is known either way.
  }
  return text || 'unknown';
};

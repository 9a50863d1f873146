import { Socket } from 'node:net';
import { closeSync, constants, openSync, rmSync, startProcess } from './machine.js';

/**
 * Named pipes stand between a command and this process: Node's own pipes are sockets, which a command could not open
 * as /dev/stdout. Errors: they cannot be made.
 */
export const makeFifos = async (mkfifo: string, paths: readonly string[]): Promise<void> => {
  for (const path of paths) rmSync(path, { force: true });
  const child = await startProcess(mkfifo, ['-m', '666', ...paths], { stdio: 'ignore' });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`named pipes could not be made: mkfifo exited with ${String(code)}`);
};

/** The reading end, which waits for no writer and ends with the last one. */
export const readFifo = (path: string): Socket =>
  asSocket(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), { readable: true, writable: false });

/** The writing end. Errors: ENXIO if no process reads. */
export const writeFifo = (path: string): Socket =>
  asSocket(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK), { readable: false, writable: true });

const asSocket = (fd: number, sides: { readable: boolean; writable: boolean }): Socket => {
  try {
    return new Socket({ fd, ...sides });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};

/** Opens both ends, so that neither an open nor a read by another process has to wait for the other side. */
export const holdFifo = (path: string): number => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);

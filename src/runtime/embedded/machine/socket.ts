import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { chmodSync, connectTo, errnoOf, mayFail, rmSync } from './machine.js';

/** The length of the kernel's socket address, without the final NUL. */
const MAX_PATH_BYTES = 107;

/**
 * Whether a server accepts connections. Errors: all except those that prove that there is none. A busy server returns
 * EAGAIN.
 */
const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connectTo(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) =>
      ['ENOENT', 'ECONNREFUSED'].includes(errnoOf(error)) ? resolve(false) : reject(error),
    );
  });

/**
 * Prepares the path. Errors: the path is too long, or a server accepts connections there. A socket file without a
 * server is removed.
 */
export const claimSocket = async (path: string): Promise<void> => {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES)
    throw new Error(`socket path ${path}: ${bytes} bytes, a unix socket's path has at most ${MAX_PATH_BYTES}`);
  if (await isServed(path)) throw new Error(`another runtime already serves ${path}`);
  rmSync(path, { force: true });
};

/** Serves on the socket, which only the user and group of this process can use. */
export const bindSocket = async (server: Server, path: string): Promise<void> => {
  mayFail('connect', 'bind', path);
  const umask = process.umask(0o117);
  try {
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
  } finally {
    process.umask(umask);
  }
  chmodSync(path, 0o660);
};

import { chmodSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { type Server, ServerCredentials } from '@grpc/grpc-js';

/** What the kernel's socket address holds, without the final NUL. */
const MAX_PATH_BYTES = 107;

const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const settle = (served: boolean): void => {
      socket.destroy();
      resolve(served);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });

/** Errors: the path is too long, or somebody answers there already. A socket file that nobody serves is removed. */
export const claimSocket = async (path: string): Promise<void> => {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES)
    throw new Error(`socket path ${path}: ${bytes} bytes, a unix socket's path has at most ${MAX_PATH_BYTES}`);
  if (await isServed(path)) throw new Error(`another runtime already serves ${path}`);
  rmSync(path, { force: true });
};

/** Serves on the socket, which only the user and group of this process can use. */
export const bindSocket = async (server: Server, path: string): Promise<void> => {
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

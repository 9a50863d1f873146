import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

/** A TCP port of this machine on which nothing listened a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

/** The process of the embedded runtime of the agent with this root directory. Errors: throws if there is none. */
export const runtimePid = (rootDirectory: string): number =>
  (
    JSON.parse(readFileSync(join(rootDirectory, 'runtime', 'state', 'runtime.lock'), 'utf8')) as {
      readonly pid: number;
    }
  ).pid;

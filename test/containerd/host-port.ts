import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of the machine for a pod, on which nothing listens. The kernel gives none of this range to a program that wants any port, so
 * that none gets one whose connections a pod takes over.
 */
export const freeHostPort = async (): Promise<number> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 10_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.on('error', () => resolve(false)).listen(port, () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('no port between 10000 and 19999 is free');
};

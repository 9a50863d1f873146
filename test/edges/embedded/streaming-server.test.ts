import type { EventEmitter } from 'node:events';
import { asyncScheduler } from 'rxjs';
import { expect, it } from 'vitest';
import { StreamingServer } from '../../../src/runtime/embedded/streaming/streaming-server.js';

it('a connection that cannot be accepted does not end the runtime', async () => {
  const warnings: string[] = [];
  const ignored = (): void => undefined;
  const server = new StreamingServer({
    random: (bytes) => Buffer.alloc(bytes),
    scheduler: asyncScheduler,
    log: { debug: ignored, info: ignored, error: ignored, warn: (_, text) => warnings.push(text) },
  });
  try {
    const target = { sandboxId: 'a', requireReady: ignored, over: new AbortController().signal };
    const url = await server.urlFor({ kind: 'portforward', target, ports: [] });
    // As Node does when accept(2) fails, such as with ENFILE.
    const { server: listening } = server as unknown as { readonly server: EventEmitter };
    listening.emit('error', new Error('accept ENFILE'));
    expect(warnings).toEqual(['the server of streams has failed a connection']);
    expect((await fetch(url)).status).toBe(400);
  } finally {
    await server.close();
  }
});

import type { ServerResponse } from 'node:http';
import { lastValueFrom, tap } from 'rxjs';
import { afterAll, expect, it } from 'vitest';
import { afterWatch } from '../../../src/model/reflector/watch-end.js';
import { eventually } from '../../embedded/eventually.js';
import { apiStage } from './api-stage.js';

const stage = apiStage();
afterAll(stage.end);

it('fails over a reply that is longer than it takes, and hangs up', async () => {
  const server = await stage.serve();
  const api = stage.client({ server: server.url }, { maxReplyBytes: 2 ** 20 });
  let hungUp = false;
  server.answer = (_, response) => {
    response.on('close', () => (hungUp = true));
    const more = (): unknown => response.write('x'.repeat(2 ** 16), (error) => !error && !hungUp && more());
    more();
  };
  const reply = lastValueFrom(api.request({ method: 'GET', path: '/api/v1/pods' }));
  await expect(reply).rejects.toMatchObject({
    code: undefined,
    message: 'GET /api/v1/pods: the reply is longer than 1 MiB',
  });
  await eventually('it hangs up', () => hungUp);
});

it('fails over a line of a watch that is longer than it takes, before its end, and lists then', async () => {
  const server = await stage.serve();
  const api = stage.client({ server: server.url }, { maxEventLength: 2 ** 20 });
  let hungUp = false;
  server.answer = (_, response) => {
    response.on('close', () => (hungUp = true));
    response.write(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' } } })}\n`);
    for (let parts = 0; parts < 17; parts++) response.write('x'.repeat(2 ** 16));
  };
  const said: string[] = [];
  const failure = await new Promise<unknown>((resolve) => {
    api.watch({ path: '/api/v1/pods' }).subscribe({ next: ({ kind }) => said.push(kind), error: resolve });
  });
  expect(said).toEqual(['opened', 'event']);
  expect(failure).toMatchObject({ code: 500, message: 'watch of /api/v1/pods: a line is longer than 1 MiB' });
  const lived = { wasOpen: true, livedMs: 60_000, hadNews: true, silentInRow: 0 };
  expect(afterWatch({ how: { kind: 'failed', error: failure }, ...lived }).next).toBe('list');
  await eventually('it hangs up', () => hungUp);
});

it('takes 16 MiB of a line and 128 MiB of a reply by default', async () => {
  const server = await stage.serve();
  const api = stage.client({ server: server.url });
  // As much as the client reads before it hangs up, and no more than twice of what it may read.
  const endless = (mebibytes: number) => (_: unknown, response: ServerResponse) => {
    let written = 0;
    const part = Buffer.alloc(2 ** 20, 'x');
    const more = (): unknown =>
      response.destroyed || (written += 1) > 2 * mebibytes ? response.destroy() : response.write(part, more);
    more();
  };
  server.answer = endless(16);
  await expect(lastValueFrom(api.watch({ path: '/api/v1/pods' }))).rejects.toMatchObject({
    message: 'watch of /api/v1/pods: a line is longer than 16 MiB',
  });
  server.answer = endless(128);
  await expect(lastValueFrom(api.request({ method: 'GET', path: '/api/v1/pods' }))).rejects.toMatchObject({
    message: 'GET /api/v1/pods: the reply is longer than 128 MiB',
  });
});

it('fails over an object with more values than one has, listed or watched, before it is read', async () => {
  const server = await stage.serve();
  const api = stage.client({ server: server.url });
  const values = `[${'[],'.repeat(200_000)}[]]`;
  server.answer = (_, response) => response.end(`{"metadata":{},"items":[{"metadata":${values}}]}`);
  await expect(lastValueFrom(api.request({ method: 'GET', path: '/api/v1/pods' }))).rejects.toMatchObject({
    code: undefined,
    message: 'GET /api/v1/pods: an object holds more than 100000 values',
  });
  server.answer = (_, response) => response.write(`{"type":"ADDED","object":{"metadata":{},"spec":${values}}}\n`);
  await expect(lastValueFrom(api.watch({ path: '/api/v1/pods' }))).rejects.toMatchObject({
    code: 500,
    message: 'watch of /api/v1/pods: a line holds more than 100000 values',
  });
});

it('lets others have their turn between the parts of a watch that come at once', async () => {
  const server = await stage.serve();
  const api = stage.client({ server: server.url });
  const line = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', padding: 'x'.repeat(50) } } })}\n`;
  server.answer = (_, response) => response.end(line.repeat(4_000));
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  let events = 0;
  let mostInOneTurn = 0;
  let inTurn = { turn: 0, events: 0 };
  setImmediate(turn);
  await lastValueFrom(
    api.watch({ path: '/api/v1/pods' }).pipe(
      tap(({ kind }) => {
        if (kind !== 'event') return;
        events += 1;
        inTurn = inTurn.turn === turns ? { ...inTurn, events: inTurn.events + 1 } : { turn: turns, events: 1 };
        mostInOneTurn = Math.max(mostInOneTurn, inTurn.events);
      }),
    ),
  );
  isOver = true;
  expect(events).toBe(4_000);
  expect(mostInOneTurn).toBeLessThanOrEqual(16);
});

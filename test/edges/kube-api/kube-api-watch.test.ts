import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { afterWatch } from '../../../src/model/reflector/watch-end.js';
import type { ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { eventually } from '../../embedded/eventually.js';
import { apiStage, json, type TestServer } from './api-stage.js';
import { errorOf, GET, LIVED } from './http2-watches.js';

const stage = apiStage();
afterAll(stage.end);

let server: TestServer;
beforeEach(async () => {
  server = await stage.serve();
});

describe('a watch', () => {
  const event = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
  const pod = (name: string) => ({ kind: 'Pod', metadata: { name } });

  /** Subscribes; gives what has come so far, and the response to write to. */
  const open = async (query: Record<string, string> = {}) => {
    let response: ServerResponse | undefined;
    server.answer = (_, answered) => {
      response = answered;
      answered.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    };
    const api = stage.client({ server: server.url });
    const came: (ApiWatchMessage | 'complete' | ApiError)[] = [];
    const subscription = api.watch({ path: '/api/v1/pods', query }).subscribe({
      next: (message) => came.push(message),
      error: (error: unknown) => came.push(error as ApiError),
      complete: () => came.push('complete'),
    });
    await eventually('the watch is open', () => came.length > 0);
    return { api, came, subscription, response: response! };
  };

  it('is open when the headers are there, and then emits each line', async () => {
    const { came, response } = await open({ resourceVersion: '7', timeoutSeconds: '300' });
    expect(server.seen[0]!.line).toBe('GET /api/v1/pods?resourceVersion=7&timeoutSeconds=300&watch=true');
    expect(came).toEqual([{ kind: 'opened' }]);
    response.write(event('ADDED', pod('a')) + event('BOOKMARK', pod('')));
    response.end(event('ERROR', { kind: 'Status', code: 410 }));
    await eventually('it ends', () => came.includes('complete'));
    expect(came).toEqual([
      { kind: 'opened' },
      { kind: 'event', type: 'ADDED', object: pod('a') },
      { kind: 'event', type: 'BOOKMARK', object: pod('') },
      { kind: 'event', type: 'ERROR', object: { kind: 'Status', code: 410 } },
      'complete',
    ]);
  });

  it('puts lines together that come in parts, in the middle of a character as well', async () => {
    const { came, response } = await open();
    const bytes = Buffer.from(event('ADDED', pod('grün')));
    const inside = bytes.indexOf(Buffer.from('ü')) + 1;
    response.socket!.setNoDelay(true);
    response.write(bytes.subarray(0, inside));
    await new Promise((resolve) => setImmediate(resolve));
    response.write(bytes.subarray(inside));
    response.end();
    await eventually('it ends', () => came.includes('complete'));
    expect(came[1]).toEqual({ kind: 'event', type: 'ADDED', object: pod('grün') });
  });

  it('takes a line of some megabytes', async () => {
    const { came, response } = await open();
    const large = { ...pod('large'), text: 'ä'.repeat(4_000_000) };
    response.end(event('MODIFIED', large));
    await eventually('it ends', () => came.includes('complete'));
    expect(came[1]).toEqual({ kind: 'event', type: 'MODIFIED', object: large });
  });

  it.each([
    ['no JSON\n', 'expected an event in JSON, found "no JSON"'],
    ['{"type":"RENAMED","object":{}}\n', 'expected an event in JSON, found a part of one'],
    ['{"type":"ADDED"}\n', 'expected an event in JSON, found a part of one'],
    ['null\n', 'expected an event in JSON, found "null"'],
  ])('fails over %j', async (text, message) => {
    const { came, response } = await open();
    response.end(text);
    await eventually('it fails', () => came.length === 2);
    expect(came[1]).toBeInstanceOf(ApiError);
    // A repetition would not help: the agent lists again.
    const error = { code: 500, reason: 'InternalError', message: `watch of /api/v1/pods: ${message}` };
    expect(came[1]).toMatchObject(error);
    expect(afterWatch({ how: { kind: 'failed', error: came[1] }, ...LIVED }).next).toBe('list');
  });

  it('fails when it ends within an event', async () => {
    const { came, response } = await open();
    response.end('{"type":"ADDED","object":{"kind":"Secret"');
    await eventually('it fails', () => came.length === 2);
    const message = 'watch of /api/v1/pods: expected a whole event before its end, found a part of one';
    expect(came[1]).toMatchObject({ code: undefined, message });
  });

  it('fails when its connection breaks, after what had come', async () => {
    const { came, response } = await open();
    response.write(event('ADDED', pod('a')));
    await eventually('the event is there', () => came.length === 2);
    response.socket!.destroy();
    await eventually('it fails', () => came.length === 3);
    expect(came[2]).toMatchObject({
      code: undefined,
      message: 'watch of /api/v1/pods: aborted',
      cause: { code: 'ECONNRESET' },
    });
  });

  it('fails with the Status of a reply that is no stream', async () => {
    server.answer = (_, response) =>
      json(response, 410, { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
    const watch$ = stage.client({ server: server.url }).watch({ path: '/api/v1/pods' });
    expect(await errorOf(lastValueFrom(watch$))).toMatchObject({ code: 410, reason: 'Expired', message: 'too old' });
  });

  it('is ended by unsubscribing', async () => {
    const { subscription, response } = await open();
    const closed = once(response, 'close');
    subscription.unsubscribe();
    await closed;
  });

  it('that the server ends leaves its connection to the next', async () => {
    const { api, came, response } = await open();
    response.end();
    await eventually('it ends', () => came.includes('complete'));
    server.answer = (_, answered) => json(answered, 200, {});
    await lastValueFrom(api.request(GET));
    expect(server.seen.map(({ connection }) => connection)).toEqual([1, 1]);
  });
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { firstValueFrom, lastValueFrom, type Observable, toArray } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { eventually } from '../../embedded/eventually.js';
import { apiStage, json, type TestServer } from './api-stage.js';
import { signer } from './signer.js';

const stage = apiStage();
afterAll(stage.end);

let server: TestServer;
beforeEach(async () => {
  server = await stage.serve();
});

const GET = { method: 'GET', path: '/api/v1/nodes/n' } as const;

/** The error that it ends with. */
const errorOf = async (call$: Observable<unknown>): Promise<ApiError> => {
  const error = await lastValueFrom(call$).then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

describe('a request', () => {
  it('asks for JSON as the agent, and emits what comes', async () => {
    const api = stage.client({ server: server.url });
    server.answer = (_, response) => json(response, 200, { kind: 'Node', metadata: { name: 'ü' } });
    const reply = await lastValueFrom(api.request({ ...GET, query: { fieldSelector: 'a=b,c!=d', limit: '5' } }));
    expect(reply).toEqual({ kind: 'Node', metadata: { name: 'ü' } });
    expect(server.seen).toMatchObject([
      {
        line: 'GET /api/v1/nodes/n?fieldSelector=a%3Db%2Cc%21%3Dd&limit=5',
        headers: {
          accept: 'application/json',
          'user-agent': 'rx-kubelet/1.2.3 (linux/amd64)',
          host: `127.0.0.1:${server.port}`,
        },
        body: '',
      },
    ]);
    expect(server.seen[0]!.headers).not.toHaveProperty('content-type');
    expect(api.host).toBe(`127.0.0.1:${server.port}`);
    expect(api.server).toBe(server.url);
  });

  it('sends nothing before it is subscribed, and once for each time that it is', async () => {
    const request$ = stage.client({ server: server.url }).request(GET);
    expect(server.seen).toHaveLength(0);
    await lastValueFrom(request$);
    await lastValueFrom(request$);
    expect(server.seen).toHaveLength(2);
  });

  it('sends a body as JSON, of the type that it is given', async () => {
    const api = stage.client({ server: server.url });
    await lastValueFrom(api.request({ method: 'POST', path: '/p', body: { name: 'ü' } }));
    await lastValueFrom(
      api.request({ method: 'PATCH', path: '/p', body: [], contentType: 'application/json-patch+json' }),
    );
    expect(server.seen).toMatchObject([
      {
        line: 'POST /p',
        body: '{"name":"ü"}',
        headers: { 'content-type': 'application/json', 'content-length': '13' },
      },
      { line: 'PATCH /p', body: '[]', headers: { 'content-type': 'application/json-patch+json' } },
    ]);
  });

  it('begins below the path of the server', async () => {
    const api = stage.client({ server: `${server.url}/k8s/clusters/c` });
    await lastValueFrom(api.request(GET));
    expect(server.seen[0]!.line).toBe('GET /k8s/clusters/c/api/v1/nodes/n');
  });

  it('goes over one connection with those before it', async () => {
    const api = stage.client({ server: server.url });
    for (const path of ['/a', '/b', '/c']) await lastValueFrom(api.request({ ...GET, path }));
    expect(server.seen.map(({ connection }) => connection)).toEqual([1, 1, 1]);
  });

  it('that fails leaves its connection to the next', async () => {
    const api = stage.client({ server: server.url });
    server.answer = (_, response) =>
      json(response, 404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'no' });
    await errorOf(api.request(GET));
    await errorOf(api.request(GET));
    expect(server.seen.map(({ connection }) => connection)).toEqual([1, 1]);
  });

  it('may have an empty answer', async () => {
    server.answer = (_, response) => void response.writeHead(200).end();
    expect(await lastValueFrom(stage.client({ server: server.url }).request(GET))).toBe(undefined);
  });

  it('is aborted when it is unsubscribed', async () => {
    let closed: Promise<unknown> | undefined;
    server.answer = (_, response) => {
      closed = once(response, 'close');
    };
    const subscription = stage.client({ server: server.url }).request(GET).subscribe();
    await eventually('the request is there', () => server.seen.length === 1);
    subscription.unsubscribe();
    await closed;
  });

  it('is not sent any more when it was unsubscribed before', async () => {
    const api = stage.client({ server: server.url });
    api
      .request({ ...GET, method: 'PUT' })
      .subscribe()
      .unsubscribe();
    await lastValueFrom(api.request(GET));
    expect(server.seen.map(({ line }) => line)).toEqual(['GET /api/v1/nodes/n']);
  });

  it('over plain HTTP works as well, without credentials', async () => {
    const plain = await stage.serve(undefined, false);
    const api = stage.client({ server: plain.url, user: { token: 'secret' } });
    expect(await lastValueFrom(api.request(GET))).toEqual({ kind: 'Ok' });
    expect(plain.seen[0]!.headers).not.toHaveProperty('authorization');
  });
});

describe('what fails', () => {
  const failing = async (
    answer: (response: ServerResponse) => void,
    request: Parameters<ReturnType<typeof stage.client>['request']>[0] = GET,
  ) => {
    server.answer = (_, response) => answer(response);
    return errorOf(stage.client({ server: server.url }).request(request));
  };

  it('is what the Status says', async () => {
    const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'slow down' };
    expect(await failing((response) => json(response, 429, status, { 'retry-after': '4' }))).toMatchObject({
      ...{ code: 429, reason: 'TooManyRequests', message: 'slow down', retryAfterSeconds: 4 },
    });
  });

  it('may be a text of a proxy', async () => {
    const error = await failing(
      (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>bad'),
    );
    expect(error).toMatchObject({
      ...{ code: 502, reason: 'InternalError' },
      message: 'an error on the server ("<h1>bad") has prevented the request from succeeding (GET /api/v1/nodes/n)',
    });
  });

  it('may be a success that is no JSON', async () => {
    const error = await failing((response) => void response.writeHead(200).end('<html>'));
    expect(error).toMatchObject({ code: undefined, message: 'GET /api/v1/nodes/n: expected JSON, found "<html>"' });
  });

  it('may be an answer that breaks off', async () => {
    const error = await failing((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"kind":');
      setImmediate(() => response.socket?.destroy());
    });
    expect(error).toMatchObject({
      code: undefined,
      message: 'GET /api/v1/nodes/n: aborted',
      cause: { code: 'ECONNRESET' },
    });
  });

  it('may be a server that is not there', async () => {
    server.close();
    const error = await errorOf(stage.client({ server: server.url }).request(GET));
    expect(error).toMatchObject({ code: undefined, cause: { code: 'ECONNREFUSED' } });
    expect(error.message).toContain('GET /api/v1/nodes/n: connect ECONNREFUSED 127.0.0.1');
  });

  it('may be a new connection that breaks before an answer, which is not asked again', async () => {
    const error = await failing((response) => void response.socket?.destroy());
    expect(error).toMatchObject({ code: undefined, cause: { code: 'ECONNRESET' } });
    expect(server.seen).toHaveLength(1);
  });

  it('is counted as it ends, each attempt', async () => {
    const counted: unknown[] = [];
    const metrics = { apiAttempt: (...attempt: unknown[]) => void counted.push(attempt) };
    const api = stage.client({ server: server.url }, { metrics });
    await lastValueFrom(api.request({ method: 'POST', path: '/p', body: {} }));
    server.answer = (_, response) => json(response, 404, {});
    await errorOf(api.request(GET));
    server.answer = (_, response) => void response.socket?.destroy();
    await errorOf(api.request({ ...GET, method: 'PUT' }));
    expect(counted).toEqual([
      ['POST', api.host, 200],
      ['GET', api.host, 404],
      ['PUT', api.host, undefined],
    ]);
  });
});

describe('a connection that the server has closed meanwhile', () => {
  /** A server without TLS that closes each connection when the second request comes over it, unanswered. */
  const closesOnSecond = async () => {
    const requests: string[] = [];
    const closing = createServer((socket: Socket) => {
      let count = 0;
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        requests.push(String(chunk).split(' ', 2).join(' '));
        count += 1;
        if (count > 1) return void socket.resetAndDestroy();
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
      });
    });
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    stage.onEnd(() => closing.close());
    const { port } = closing.address() as { port: number };
    return { requests, api: stage.client({ server: `http://127.0.0.1:${port}` }) };
  };

  it('is replaced for what only reads', async () => {
    const { requests, api } = await closesOnSecond();
    await lastValueFrom(api.request({ ...GET, path: '/1' }));
    expect(await lastValueFrom(api.request({ ...GET, path: '/2' }))).toEqual({});
    expect(requests).toEqual(['GET /1', 'GET /2', 'GET /2']);
  });

  it('fails a request that changes something: it may have been carried out', async () => {
    const { requests, api } = await closesOnSecond();
    await lastValueFrom(api.request({ ...GET, path: '/1' }));
    const error = await errorOf(api.request({ method: 'PATCH', path: '/2', body: {} }));
    expect(error).toMatchObject({ code: undefined, cause: { code: 'ECONNRESET' } });
    expect(requests).toEqual(['GET /1', 'PATCH /2']);
  });
});

describe('connections', () => {
  it('are all closed at once on request, and opened again', async () => {
    const api = stage.client({ server: server.url });
    await lastValueFrom(api.request(GET));
    server.answer = (_, response) => void response.writeHead(200).flushHeaders();
    const watch = lastValueFrom(api.watch({ path: '/w' }).pipe(toArray())).catch((error: unknown) => error);
    await eventually('the watch is open', () => server.seen.length === 2);
    const waiting = errorOf(api.request({ method: 'PUT', path: '/p' }));
    await eventually('the request is there', () => server.seen.length === 3);
    server.answer = (_, response) => json(response, 200, {});
    api.resetConnections();
    expect(await watch).toBeInstanceOf(ApiError);
    expect((await waiting).code).toBe(undefined);
    await lastValueFrom(api.request(GET));
    expect(server.seen.at(-1)!.connection).toBe(3);
  });

  it('that nothing uses are closed when asked', async () => {
    const api = stage.client({ server: server.url });
    await lastValueFrom(api.request(GET));
    api.closeIdle();
    await eventually('it is closed', () => server.sockets.size === 0);
    await lastValueFrom(api.request(GET));
    expect(server.seen.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('that nothing has used for a while are closed, before the server does; one that a watch uses is not', async () => {
    const api = stage.client({ server: server.url }, { idleMs: 50 });
    const quiet: ServerResponse[] = [];
    server.answer = (_, response) => {
      quiet.push(response);
      response.writeHead(200).flushHeaders();
    };
    const watch = lastValueFrom(api.watch({ path: '/w' }).pipe(toArray()));
    await eventually('the watch is open', () => quiet.length === 1);
    server.answer = (_, response) => json(response, 200, {});
    await lastValueFrom(api.request(GET));
    await eventually('the other one is closed', () => server.sockets.size === 1);
    quiet[0]!.end('{"type":"ADDED","object":{}}\n');
    expect(await watch).toHaveLength(2);
  });

  it('that do not come about are given up', async () => {
    // Takes the connection and says nothing of TLS.
    const silent = createServer((socket) => void socket.on('error', () => undefined).resume());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    stage.onEnd(() => silent.close());
    const { port } = silent.address() as { port: number };
    const api = stage.client({ server: `https://127.0.0.1:${port}` }, { tlsHandshakeMs: 50 });
    expect((await errorOf(api.request(GET))).message).toBe('GET /api/v1/nodes/n: no TLS handshake after 0.05 s');
  });

  it('are only made to the server that is meant', async () => {
    const stranger = signer(stage.folder, 'stranger');
    const other = await stage.serve(stranger.server());
    const error = await errorOf(stage.client({ server: other.url }).request(GET));
    expect(error.cause).toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(other.seen).toEqual([]);

    const named = stage.client({ server: server.url, tlsServerName: 'api.test' });
    expect(await firstValueFrom(named.request(GET))).toEqual({ kind: 'Ok' });
    const misnamed = stage.client({ server: server.url, tlsServerName: 'other.test' });
    expect((await errorOf(misnamed.request(GET))).cause).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });

    const careless = stage.client({ server: other.url, insecureSkipTlsVerify: true });
    expect(await firstValueFrom(careless.request(GET))).toEqual({ kind: 'Ok' });
  });
});

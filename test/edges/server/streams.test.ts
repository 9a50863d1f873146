import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { NEVER, Observable, of, throwError, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { eventually } from '../../embedded/eventually.js';
import { Authority } from '../kube-api/authority.js';
import { EXEC, StreamStage } from './stream-stage.js';
import { header, UPGRADE } from './stream-client.js';
import { ACCEPTED, replying, StreamingPeer } from './streaming-peer.js';

describe('a stream', () => {
  let stage: StreamStage;
  beforeEach(async () => {
    stage = await StreamStage.make();
  });
  afterEach(() => stage.dispose());

  it('hands the request over, and relays the reply with all bytes around both', async () => {
    await stage.begin();
    stage.peer.behaviour = (socket, _, rest) => {
      socket.write(`${ACCEPTED}begin `);
      socket.write(rest);
      socket.pipe(socket);
    };
    const client = await stage.connect();
    const lines = `X-Stream-Protocol-Version: v4.channel.k8s.io\r\nX-Stream-Protocol-Version: v3.channel.k8s.io\r\n${UPGRADE}`;
    client.socket.write(`${header('POST', EXEC, `${lines}Content-Length: 0\r\nX-Forwarded-For: 10.0.0.9\r\n`)}early`);
    expect(await client.readUntil('early')).toBe(`${ACCEPTED}begin early`);
    expect(await client.echoes('and later')).toBe(true);
    expect(stage.calls).toEqual([
      { containerId: 'c1', cmd: ['sh'], stdin: false, stdout: true, stderr: false, tty: false },
    ]);
    const [requestLine, ...sent] = stage.peer.headers[0]!.split('\r\n');
    expect(requestLine).toBe('POST /exec/t0ken?x=1 HTTP/1.1');
    expect(sent).toEqual([
      'Host: node:10250',
      'X-Stream-Protocol-Version: v4.channel.k8s.io',
      'X-Stream-Protocol-Version: v3.channel.k8s.io',
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'X-Forwarded-For: 10.0.0.9, 127.0.0.1',
    ]);
  });

  it('passes large amounts unchanged in both directions', async () => {
    await stage.begin();
    const client = await stage.open();
    const sent = randomBytes(20 * 2 ** 20);
    const received = createHash('sha256');
    let count = 0;
    client.socket.on('data', (part: Buffer) => {
      received.update(part);
      count += part.length;
    });
    client.socket.write(sent);
    await eventually('all bytes have come back', () => count >= sent.length);
    expect(received.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('accepts a token in a WebSocket protocol, which the runtime does not receive', async () => {
    await stage.begin();
    const token = (text: string) =>
      `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString('base64url')}, v4.channel.k8s.io`;
    const lines = (text: string) =>
      `Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ${token(text)}\r\n`;
    const client = await stage.connect();
    client.socket.write(header('GET', EXEC, lines('admin'), ''));
    expect(await client.readUntil('\r\n\r\n')).toBe(ACCEPTED);
    expect(stage.peer.headers[0]).toContain('\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n');
    expect(stage.peer.headers[0]).not.toContain('bearer');
    expect(stage.questions).toMatchObject([{ user: { name: 'admin' }, verb: 'get', subresource: 'proxy' }]);
    for (const [text, status] of [
      ['guest', '403 Forbidden'],
      ['wrong', '401 Unauthorized'],
    ] as const) {
      const refused = await stage.connect();
      refused.socket.write(header('GET', EXEC, lines(text), ''));
      expect(await refused.readToEnd()).toContain(`HTTP/1.1 ${status}\r\n`);
    }
    // Without an upgrade to a WebSocket it is no credential.
    const plain = await stage.connect();
    plain.socket.write(header('GET', EXEC, `Connection: close\r\nSec-WebSocket-Protocol: ${token('admin')}\r\n`, ''));
    expect(await plain.readToEnd()).toContain('HTTP/1.1 401 ');
    expect(stage.peer.headers.length).toBe(1);
  });

  it('is reached over TLS without a check of the certificate', async () => {
    stage.peer.close();
    stage.peer = await StreamingPeer.start(new Authority(stage.subfolder('other')).pair('/CN=x', undefined, 'server'));
    await stage.begin({ streaming: stage.streaming(() => of({ url: stage.urlOf('https') })) });
    expect(await (await stage.open()).echoes('hello')).toBe(true);
  });

  it.each<[string, () => Observable<ExecResponse>, string, string]>([
    [
      'an unknown container',
      () => failing('not-found', 'no container'),
      '404 Not Found',
      'rpc error: code = NotFound desc = no container',
    ],
    [
      'too many requests',
      () => failing('resource-exhausted', 'full'),
      '429 Too Many Requests',
      'rpc error: code = ResourceExhausted desc = full',
    ],
    [
      'no streams',
      () => failing('unimplemented', 'not here'),
      '500 Internal Server Error',
      'rpc error: code = Unimplemented desc = not here',
    ],
    [
      'a URL of no use',
      () => of({ url: 'ftp://x/y' }),
      '500 Internal Server Error',
      'the runtime has sent the URL ftp://x/y',
    ],
    [
      'no server',
      () => of({ url: 'http://127.0.0.1:1/exec/x' }),
      '500 Internal Server Error',
      'error dialing backend: connect ECONNREFUSED 127.0.0.1:1',
    ],
  ])('is refused by a runtime with %s', async (_, exec, status, body) => {
    await stage.begin({ streaming: stage.streaming(exec) });
    const reply = await stage.refusalOf();
    expect(reply).toContain(`HTTP/1.1 ${status}\r\n`);
    expect(reply.endsWith(`\r\n\r\n${body}`)).toBe(true);
    expect(reply.includes('Retry-After: 60\r\n')).toBe(status.startsWith('429'));
    await stage.allClosed();
  });
  const failing = (code: CriError['code'], message: string) => throwError(() => new CriError(code, 'Exec', message));

  it('is refused with the reply of the streaming server', async () => {
    await stage.begin();
    const part = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    stage.peer.behaviour = replying(
      `HTTP/1.1 403 Not These\r\nX-Accepted-Stream-Protocol-Versions: v4\r\nTransfer-Encoding: chunked\r\n\r\n${part('no ')}${part('way')}0\r\n\r\n`,
    );
    const reply = await stage.refusalOf();
    expect(reply).toMatch(/^HTTP\/1\.1 403 Not These\r\nX-Accepted-Stream-Protocol-Versions: v4\r\n/);
    expect(reply).toContain('no ');
    expect(reply).toContain('way');
    stage.peer.behaviour = replying('HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone');
    expect(await stage.refusalOf()).toMatch(/^HTTP\/1\.1 404 Not Found\r\nContent-Length: 4\r\n.*\r\n\r\ngone$/s);
    await stage.allClosed();
  });

  it.each([
    [
      'a success',
      replying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      'invalid upgrade response: status code 200\n',
    ],
    ['the end of the connection', (socket) => void socket.end(), 'socket hang up'],
    ['an end within the header', (socket) => void socket.end('HTTP/1.1 101 Swit'), 'socket hang up'],
    ['another protocol', (socket) => void socket.end('SSH-2.0-x\r\n'), 'Parse Error'],
  ])('is refused if the streaming server replies with %s', async (_, behaviour, text) => {
    await stage.begin();
    stage.peer.behaviour = behaviour;
    const reply = await stage.refusalOf();
    expect(reply).toContain('HTTP/1.1 500 Internal Server Error\r\n');
    expect(reply).toContain(text);
    await stage.allClosed();
  });

  it('needs a request for another protocol, a method and a path of its own', async () => {
    await stage.begin();
    expect(await stage.refusalOf('GET', EXEC, 'Connection: close\r\n')).toMatch(
      / 500 .*\r\n\r\nUpgrade request required\n$/s,
    );
    expect(await stage.refusalOf('DELETE')).toMatch(/^HTTP\/1\.1 405 .*Allow: GET, POST\r\n/s);
    expect(await stage.refusalOf('POST', '/exec/d/p')).toContain('HTTP/1.1 404 ');
    expect(await stage.refusalOf('POST', '/exec/d/p/c')).toMatch(
      / 400 .*you must specify at least 1 of stdin, stdout, stderr$/s,
    );
    expect(stage.peer.headers).toEqual([]);
  });

  it('does not begin beside a request under way on its connection', async () => {
    let release = (): void => undefined;
    const review$ = new Observable<boolean>((subscriber) => {
      release = () => subscriber.next(true);
    });
    await stage.begin({}, { authorizeAccess: () => review$ });
    const client = await stage.connect();
    client.socket.write(header('GET', '/healthz', '') + header('POST', EXEC));
    expect(await client.readToEnd()).toBe('');
    release();
    expect(stage.peer.headers).toEqual([]);
    await stage.allClosed();
  });

  it('and a request for another protocol elsewhere is a request', async () => {
    await stage.begin();
    const reply = await stage.refusalOf('GET', '/healthz');
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n\r\nok$/s);
    await stage.allClosed();
  });

  it('is refused beyond its limits, and again possible after the end of another one', async () => {
    await stage.begin({ limits: { perPod: 1, total: 1 } });
    const first = await stage.open();
    expect(await stage.refusalOf()).toMatch(
      /^HTTP\/1\.1 429 .*\r\n\r\nthe pod has 1 open streams, and may have no more$/s,
    );
    expect(await first.echoes('still here')).toBe(true);
    first.socket.end();
    await once(first.socket.resume(), 'close');
    await eventually('its place is free', () =>
      stage
        .ask({ path: '/metrics', token: 'admin' })
        .then(({ body }) => body.includes('path="exec",server_type="readwrite",long_running="true"} 0')),
    );
    expect(await (await stage.open()).echoes('next')).toBe(true);
  });

  it('counts no longer once one side has ended, while the other one stays', async () => {
    await stage.begin({ limits: { perPod: 1, total: 1 }, scheduler: new VirtualTimeScheduler() });
    const first = await stage.connect({ allowHalfOpen: true });
    first.socket.write(header('POST', EXEC));
    await first.readUntil('\r\n\r\n');
    stage.peer.newest.end();
    await first.readToEnd();
    expect(first.socket.writable).toBe(true);
    expect(await (await stage.open()).echoes('next')).toBe(true);
  });

  it('ends with a server that breaks off, once the client has ended, also if the client was still sending', async () => {
    // The five seconds that another end may last never pass here.
    await stage.begin({ scheduler: new VirtualTimeScheduler() });
    const client = await stage.connect({ allowHalfOpen: true });
    client.socket.write(header('POST', EXEC));
    await client.readUntil('\r\n\r\n');
    stage.peer.newest.resetAndDestroy();
    await client.readToEnd();
    client.socket.end('what nobody reads');
    await stage.allClosed();
  });

  it('begins only with access', async () => {
    await stage.begin({ streaming: stage.streaming(() => NEVER) });
    for (const [token, status] of [
      ['guest', 403],
      ['wrong', 401],
      ['', 401],
    ] as const) {
      for (const method of ['GET', 'POST']) {
        const client = await stage.connect();
        client.socket.write(header(method, EXEC, UPGRADE, token));
        expect(await client.readToEnd()).toContain(`HTTP/1.1 ${status} `);
      }
    }
    expect(stage.questions.map(({ verb }) => verb)).toEqual(['get', 'create']);
    expect(stage.calls).toEqual([]);
  });
});

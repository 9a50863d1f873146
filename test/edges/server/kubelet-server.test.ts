import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect as connectTcp, createServer } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fc } from '@fast-check/vitest';
import { NEVER, Observable, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pemSource } from '../../../src/kube-api/pem-source.js';
import { tlsSettings } from '../../../src/model/server/tls-settings.js';
import { eventually } from '../../embedded/eventually.js';
import { Authority } from '../kube-api/authority.js';
import { KubeletStage, openSockets } from './kubelet-stage.js';

describe('the kubelet API', () => {
  let stage: KubeletStage;
  beforeEach(() => {
    stage = new KubeletStage();
    stage.furnish();
  });
  afterEach(() => stage.dispose());

  const tls = (over: object = {}): TLSSocket =>
    connectTls({ host: '127.0.0.1', port: Number(stage.url.port), rejectUnauthorized: false, ...over });

  it('serves anonymous clients by what is allowed to them, but not those whose credentials are refused', async () => {
    await stage.start(
      {},
      {
        rules: { reviewsTokens: true, allowsAnonymous: true },
        authorizeAccess: ({ subresource }) => of(subresource === 'healthz'),
      },
    );
    expect((await stage.ask({ path: '/healthz' })).status).toBe(200);
    expect((await stage.ask({ path: '/pods' })).body).toContain('Forbidden (user=system:anonymous, verb=get');
    expect((await stage.ask({ path: '/healthz', token: 'wrong' })).status).toBe(401);
    const other = new Authority(stage.subfolder('other'));
    expect((await stage.ask({ path: '/healthz', ...other.pair('/CN=admin') })).status).toBe(401);
  });

  it('has no certificate of clients and no token where neither is set', async () => {
    const { cert, key } = stage.files;
    const pems = async () => ({ cert: pemSource({ file: cert }), key: pemSource({ file: key }) });
    await stage.start({ pems }, { rules: { reviewsTokens: false, allowsAnonymous: false } });
    const pair = stage.authority.pair('/CN=admin');
    expect((await stage.ask({ path: '/pods', ...pair })).status).toBe(401);
    expect((await stage.ask({ path: '/pods', token: 'admin' })).status).toBe(401);
  });

  it('replies 405 where the configuration turns endpoints off', async () => {
    const switches = {
      enableDebuggingHandlers: false,
      enableSystemLogHandler: true,
      enableProfilingHandler: true,
      enableDebugFlagsHandler: true,
    };
    await stage.start({ switches });
    const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
    for (const path of [
      '/runningpods/',
      '/exec/a/b/c',
      '/portForward/a/b',
      '/containerLogs/a/b/c',
      '/logs/',
      '/debug/pprof/heap',
    ]) {
      expect(await stage.ask({ path, token: 'admin', headers: upgrade })).toMatchObject({ status: 405 });
      expect(await stage.ask({ path, token: 'admin' })).toMatchObject({
        status: 405,
        body: 'Debug endpoints are disabled.\n',
      });
      expect((await stage.ask({ path })).status).toBe(401);
    }
    expect((await stage.ask({ path: '/configz', token: 'admin' })).status).toBe(404);
    expect((await stage.ask({ path: '/pods', token: 'admin' })).status).toBe(200);
  });

  it('uses a renewed certificate from the next connection on, and keeps the last one beside half of a pair', async () => {
    await stage.start();
    const serial = async (): Promise<string | undefined> => {
      const socket = tls();
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const first = await serial();
    const next = stage.authority.pair('/CN=server', undefined, 'server');
    writeFileSync(stage.files.cert, next.cert);
    expect(await serial()).toBe(first);
    writeFileSync(stage.files.key, next.key);
    const second = await serial();
    expect(second).not.toBe(first);
    rmSync(stage.files.key);
    expect(await serial()).toBe(second);
    expect(stage.warnings.length).toBe(2);
  });

  it('accepts nothing of a former client authority, also on an open connection', async () => {
    await stage.start();
    const other = new Authority(stage.subfolder('other'));
    const [before, after] = [stage.authority.pair('/CN=admin'), other.pair('/CN=admin')];
    const [kept, fresh] = [before, after].map((pair) => new Agent({ ...pair, keepAlive: true, maxSockets: 1 }));
    try {
      expect((await stage.ask({ path: '/pods', agent: kept! })).status).toBe(200);
      expect((await stage.ask({ path: '/pods', agent: fresh! })).status).toBe(401);
      writeFileSync(stage.files.clientCa, other.ca);
      // The connection is closed, and the next one of the same client resumes no session of it.
      await stage.ask({ path: '/pods', agent: kept! }).then(
        ({ status }) => expect(status).toBe(401),
        (error: Error) => expect(error.message).toMatch(/hang up|ECONNRESET/),
      );
      expect((await stage.ask({ path: '/pods', agent: kept! })).status).toBe(401);
      expect((await stage.ask({ path: '/pods', ...after })).status).toBe(200);
    } finally {
      kept!.destroy();
      fresh!.destroy();
    }
  });

  it.each([
    ['is empty', ''],
    ['is damaged', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('keeps the client authority while its file %s', async (_, content) => {
    await stage.start();
    const pair = stage.authority.pair('/CN=admin');
    writeFileSync(stage.files.clientCa, content);
    expect((await stage.ask({ path: '/pods', ...pair })).status).toBe(200);
    expect((await stage.ask({ path: '/pods', ...new Authority(stage.subfolder('x')).pair('/CN=admin') })).status).toBe(
      401,
    );
    expect(stage.warnings.join('\n')).toContain('cannot be renewed');
  });

  it('does not start over an empty file of client authorities', async () => {
    writeFileSync(stage.files.clientCa, '');
    await expect(stage.start()).rejects.toThrow('expected PEM with a certificate');
  });

  it('refuses versions of TLS before the oldest of the configuration', async () => {
    await stage.start({ tls: tlsSettings('VersionTLS13', []) });
    await expect(once(tls({ maxVersion: 'TLSv1.2' }), 'secureConnect')).rejects.toThrow();
    const socket = tls({ minVersion: 'TLSv1.3' });
    await once(socket, 'secureConnect');
    socket.destroy();
  });

  it('replies nothing but a refusal to malformed requests, and outlives them', async () => {
    await stage.start();
    const before = openSockets();
    const word = fc.constantFrom(
      ...[
        'GET',
        'POST',
        'HEAD',
        'FOO',
        ' ',
        '/pods',
        '/%',
        '*pods',
        '?metrics',
        'HTTP/1.1',
        'HTTP/9.9',
        '\r\n',
        '\n',
        '\0',
      ],
      ...[
        'Host: x\r\n',
        'Authorization: Bearer ',
        'Content-Length: -1\r\n',
        'Transfer-Encoding: chunked\r\n',
        'ffffffff\r\n',
      ],
      ...['Upgrade: websocket\r\nConnection: Upgrade\r\n', 'Expect: 100-continue\r\n', 'x'.repeat(2_000), '\r\n\r\n'],
    );
    const samples = fc.sample(fc.array(word, { minLength: 1, maxLength: 12 }), { seed: 7, numRuns: 300 });
    for (const parts of samples) {
      const socket = tls();
      await once(socket, 'secureConnect');
      let reply = '';
      socket.setEncoding('latin1').on('data', (part: string) => (reply += part));
      socket.on('error', () => undefined);
      socket.end(parts.join(''));
      await once(socket, 'close');
      expect(reply).not.toMatch(/HTTP\/1\.1 (2|101)/);
    }
    expect((await stage.ask({ path: '/pods', token: 'admin' })).status).toBe(200);
    await eventually('no connection is left', () => openSockets() <= before);
  });

  it('closes connections without a handshake, a whole header or a reader, and has no descriptor left at its end', async () => {
    const before = openSockets();
    await stage.start({}, { authenticateToken: () => NEVER });
    const port = Number(stage.url.port);
    const silent = connectTcp(port, '127.0.0.1');
    const slow = tls();
    await once(slow, 'secureConnect');
    slow.write('GET /pods HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const waiting = tls();
    await once(waiting, 'secureConnect');
    waiting.on('error', () => undefined).write('GET /pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n');
    await Promise.all(
      [silent, slow].map(async (socket) => {
        socket.on('error', () => undefined).resume();
        await once(socket, 'close');
      }),
    );
    // Its request was whole, and is under way.
    expect(waiting.closed).toBe(false);
    const handshaking = connectTcp(port, '127.0.0.1').on('error', () => undefined);
    await once(handshaking, 'connect');
    stage.stop();
    await eventually('no descriptor is left', () => openSockets() <= before);
  }, 60_000);

  it('cancels the review for a client that vanishes', async () => {
    let state = 'none';
    await stage.start(
      {},
      {
        authenticateToken: () =>
          new Observable(() => {
            state = 'under way';
            return () => (state = 'cancelled');
          }),
      },
    );
    const socket = tls();
    await once(socket, 'secureConnect');
    socket.write('GET /pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n');
    await eventually('the review is under way', () => state === 'under way');
    socket.destroy();
    await eventually('the review is cancelled', () => state === 'cancelled');
  });

  it('reports a port in use, and does not end', async () => {
    const blocker = createServer();
    blocker.listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as { port: number };
    try {
      await expect(stage.start({ port })).rejects.toThrow('EADDRINUSE');
    } finally {
      blocker.close();
    }
  });
});

import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect as connectTcp, createServer } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { fc } from '@fast-check/vitest';
import { NEVER, Observable, of } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pemSource } from '../../../src/kube-api/pem-source.js';
import { tlsSettings } from '../../../src/model/server/tls-settings.js';
import { checkpointRoute, commandRoutes } from '../../../src/server/routes/container-commands.js';
import { containerLogs } from '../../../src/server/logs/container-logs.js';
import { healthSlis } from '../../../src/server/routes/health-slis.js';
import { nodeLogs } from '../../../src/server/logs/node-logs.js';
import { profileRoutes } from '../../../src/server/diagnostics/profiles.js';
import { verbosityRoute } from '../../../src/server/diagnostics/verbosity.js';
import { zPages } from '../../../src/server/diagnostics/z-pages.js';
import { eventually } from '../../embedded/eventually.js';
import { EMPTY_SAMPLE } from '../../support/stats-parts.js';
import { Authority } from '../kube-api/authority.js';
import { ROUTES } from './routes.js';
import { type Asked, KubeletStage, openSockets } from './kubelet-stage.js';

const HOUR = 3_600;

describe('a client of the kubelet API', () => {
  let stage: KubeletStage;
  let clients: Readonly<Record<string, Omit<Asked, 'path'>>>;
  beforeAll(async () => {
    stage = new KubeletStage();
    stage.furnish();
    const { authority } = stage;
    const other = new Authority(stage.subfolder('other'));
    const withName = (name: string) => authority.pair(`/O=ops/CN=${name}`);
    clients = {
      'no credentials': {},
      'a certificate of an unknown authority': other.pair('/CN=admin'),
      'an expired certificate': authority.pair('/CN=admin', { since: 2 * HOUR, until: -HOUR }),
      'a certificate for a server': authority.pair('/CN=admin', undefined, 'server'),
      'a bad token': { token: 'wrong' },
      'a token whose review fails': { token: 'broken' },
      'a password': { headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } },
      'a token without access': { token: 'guest' },
      'a certificate without access': withName('guest'),
      'a token with access': { token: 'admin' },
      'a certificate with access': withName('admin'),
      'a bad certificate and a token with access': { ...other.pair('/CN=guest'), token: 'admin' },
    };
    const facts = { startedAt: 0, version: '0.1.0', nodeVersion: 'v1', emulationVersion: '1.37', paths: [] };
    const done = () => of({ status: 200, body: '' });
    const sample$ = of(EMPTY_SAMPLE);
    await stage.start({
      slis: healthSlis(),
      stats: { resources$: sample$, summary$: sample$, cgroups$: sample$, runtimeMetrics$: of(undefined) },
      debugPaths: [
        containerLogs(() => of({ kind: 'refused', status: 404, text: 'no such pod' })),
        ...nodeLogs(stage.subfolder('logs')),
        ...commandRoutes(done),
        checkpointRoute(done),
        ...zPages({ facts, flags: {}, now: () => Date.now(), random: Math.random }),
        ...profileRoutes(() => of({ status: 200, body: '{}' })),
        verbosityRoute(() => undefined),
      ],
    });
  });
  afterAll(() => stage.dispose());

  /** An upgrade to another protocol is refused and answered as any request. */
  const AS = {
    'a request': {},
    'an upgrade': { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    'a WebSocket': { connection: 'keep-alive, Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'v4' },
  } as const;
  const KINDS = Object.keys(AS) as (keyof typeof AS)[];
  const REFUSED = {
    'no credentials': 401,
    'a certificate of an unknown authority': 401,
    'an expired certificate': 401,
    'a certificate for a server': 401,
    'a bad token': 401,
    'a token whose review fails': 401,
    'a password': 401,
    'a token without access': 403,
    'a certificate without access': 403,
  } as const;

  const asked = (method: string, path: string, client: string, as: keyof typeof AS): Asked => {
    const who = clients[client];
    return { method, path, ...who, headers: { ...who?.headers, ...AS[as] } };
  };

  it.each(
    ROUTES.flatMap((route) =>
      Object.keys(REFUSED).flatMap((client) => KINDS.map((as) => [...route, client, as] as const)),
    ),
  )('%s %s is refused (%s, %i): %s, as %s', async (method, path, subresources, _status, client, as) => {
    const { status, body } = await stage.ask(asked(method, path, client, as));
    expect(status).toBe(REFUSED[client as keyof typeof REFUSED]);
    const verb = { GET: 'get', POST: 'create', PUT: 'update', DELETE: 'delete' }[method];
    expect(body).toBe(
      status === 401
        ? 'Unauthorized'
        : `Forbidden (user=guest, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])\n`,
    );
  });

  it.each(
    ROUTES.flatMap((route) =>
      ['a token with access', 'a certificate with access', 'a bad certificate and a token with access'].flatMap(
        (client) => KINDS.map((as) => [...route, client, as] as const),
      ),
    ),
  )('%s %s is answered (%s): %i with %s, as %s', async (method, path, _, status, client, as) => {
    // A WebSocket client names its ports.
    const isWithoutPort = as === 'a WebSocket' && path.startsWith('/portForward');
    expect((await stage.ask(asked(method, path, client, as))).status).toBe(isWithoutPort ? 400 : status);
  });

  it('is asked about by all that is known of it, once for each subresource until one allows', async () => {
    stage.questions.length = 0;
    await stage.ask({ path: '/pods', ...clients['a certificate without access'] });
    expect(stage.questions.map(({ subresource }) => subresource)).toEqual(['pods', 'proxy']);
    expect(stage.questions[0]).toMatchObject({
      nodeName: 'n1',
      verb: 'get',
      user: {
        name: 'guest',
        groups: ['ops', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[\da-f]{64}$/)] },
      },
    });
    stage.questions.length = 0;
    expect((await stage.ask({ path: '/pods', token: 'fine' })).status).toBe(200);
    expect(stage.questions.map(({ subresource }) => subresource)).toEqual(['pods']);
  });

  it.each([
    ['/metrics', 200],
    ['/metrics/probes', 200],
    ['/metrics/../pods', 404],
    ['/pods', 403],
    ['/%70ods', 403],
    ['//metrics', 403],
    ['/configz', 403],
  ])('with access to metrics alone that requests %s receives %i', async (path, status) => {
    expect((await stage.ask({ path, token: 'scraper' })).status).toBe(status);
  });

  it('whose access cannot be reviewed receives an error', async () => {
    const { cert, key } = stage.authority.pair('/CN=unlucky');
    expect(await stage.ask({ path: '/pods', cert, key })).toMatchObject({
      status: 500,
      body: 'Authorization error (user=unlucky, verb=get, resource=nodes, subresource=pods)',
    });
    expect(stage.warnings.join('\n')).toContain('no answer');
  });

  it('that is allowed reads what the agent shows', async () => {
    const get = async (path: string) => (await stage.ask({ path, token: 'admin' })).body;
    expect(await get('/healthz')).toBe('ok');
    expect(await get('/pods')).toBe('{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n');
    expect(JSON.parse(await get('/runningpods/'))).toMatchObject({ items: [{ metadata: { name: 'p' } }] });
    expect(JSON.parse(await get('/configz'))).toEqual({ kubeletconfig: { kind: 'KubeletConfiguration' } });
    const lines = (await get('/metrics')).split('\n');
    const labels = 'path="pods",server_type="readwrite",long_running="false"';
    expect(lines.some((line) => line.startsWith(`kubelet_http_requests_total{method="GET",${labels}} `))).toBe(true);
    expect(lines).toContain(
      'kubelet_http_inflight_requests{method="GET",path="metrics",server_type="readwrite",long_running="false"} 1',
    );
    expect(lines.some((line) => line.startsWith('kubelet_http_requests_duration_seconds_count{'))).toBe(true);
  });
});

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

import { of } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointRoute, commandRoutes } from '../../../src/server/routes/container-commands.js';
import { containerLogs } from '../../../src/server/logs/container-logs.js';
import { healthSlis } from '../../../src/server/routes/health-slis.js';
import { nodeLogs } from '../../../src/server/logs/node-logs.js';
import { profileRoutes } from '../../../src/server/diagnostics/profiles.js';
import { verbosityRoute } from '../../../src/server/diagnostics/verbosity.js';
import { zPages } from '../../../src/server/diagnostics/z-pages.js';
import { EMPTY_SAMPLE } from '../../support/stats-parts.js';
import { Authority } from '../kube-api/authority.js';
import { ROUTES } from './routes.js';
import { type Asked, KubeletStage } from './kubelet-stage.js';

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
      stats: {
        resources$: sample$,
        summary$: sample$,
        cgroups$: sample$,
        runtimeMetrics$: of(undefined),
        logs$: of([]),
      },
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

import { describe, expect, it } from 'vitest';
import { disabledEndpoint } from '../../../src/model/server/disabled-endpoint.js';
import { requestLabels } from '../../../src/model/server/request-labels.js';
import { serverAccess, type ServerSettings } from '../../../src/model/server/server-access.js';
import { tlsSettings, unknownSuite } from '../../../src/model/server/tls-settings.js';
import { runningPods } from '../../../src/model/pleg/running-pods.js';
import { emptyPodStatus, type RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';

interface Choice {
  readonly ca?: string;
  readonly webhook?: boolean;
  readonly anonymous?: boolean;
  readonly mode?: string;
  readonly enableServer?: boolean;
  readonly port?: number;
}

const settings = ({
  ca = '',
  webhook = true,
  anonymous = false,
  mode = 'Webhook',
  ...rest
}: Choice): ServerSettings => ({
  enableServer: true,
  port: 10_250,
  ...rest,
  authentication: { x509: { clientCAFile: ca }, webhook: { enabled: webhook }, anonymous: { enabled: anonymous } },
  authorization: { mode },
});
const open = (reviewsTokens: boolean, allowsAnonymous: boolean, reviewsAccess: boolean) => ({
  kind: 'open',
  authentication: { reviewsTokens, allowsAnonymous },
  reviewsAccess,
});
const ALWAYS = 'AlwaysAllow';

describe('the port with authentication', () => {
  it.each([
    ['in a cluster, by default', {}, true, open(true, false, true)],
    ['in a cluster, with all credentials', { ca: 'f', anonymous: true }, true, open(true, true, true)],
    ['in a cluster, for certificates alone', { ca: 'f', webhook: false }, true, open(false, false, true)],
    ['in a cluster, for every token', { mode: ALWAYS }, true, open(true, false, false)],
    ['alone, for certificates', { ca: 'f', mode: ALWAYS }, false, open(false, false, false)],
    ['alone, for every client', { anonymous: true, mode: ALWAYS }, false, open(false, true, false)],
  ])('opens %s', (_, choice, hasApiServer, expected) => {
    expect(serverAccess(settings(choice), hasApiServer)).toEqual(expected);
  });

  it.each([
    ['alone, by default', {}, false, /needs an API server/],
    ['alone, for certificates whose access is reviewed', { ca: 'f' }, false, /needs an API server/],
    ['alone, for anonymous clients whose access is reviewed', { anonymous: true }, false, /needs an API server/],
    ['alone, for tokens', { mode: ALWAYS }, false, /no client can authenticate/],
    ['in a cluster without any credential', { webhook: false }, true, /no client can authenticate/],
    ['in a cluster, turned off', { enableServer: false }, true, /enableServer/],
    ['in a cluster, with the port 0', { port: 0 }, true, /port is 0/],
  ])('stays closed %s', (_, choice, hasApiServer, reason) => {
    expect(serverAccess(settings(choice), hasApiServer)).toEqual({
      kind: 'closed',
      reason: expect.stringMatching(reason) as string,
    });
  });
});

describe('an endpoint that is off', () => {
  const on = {
    enableDebuggingHandlers: true,
    enableSystemLogHandler: true,
    enableProfilingHandler: true,
    enableDebugFlagsHandler: true,
  };
  const debug = { ...on, enableDebuggingHandlers: false };
  it.each([
    ...['/run/a/b/c', '/exec/a/b/c', '/attach/a/b/c', '/portForward/a/b', '/containerLogs/a/b/c'].map(
      (path) => [path, debug, 'Debug endpoints are disabled.\n'] as const,
    ),
    ...['/runningpods/', '/runningpods', '/debug/pprof/heap', '/logs/'].map(
      (path) => [path, debug, 'Debug endpoints are disabled.\n'] as const,
    ),
    ['/configz', debug, undefined],
    ['/pods', debug, undefined],
    ['/runner', debug, undefined],
    ['/logs/x', { ...on, enableSystemLogHandler: false }, 'logs endpoint is disabled.\n'],
    ['/debug/pprof/', { ...on, enableProfilingHandler: false }, 'profiling endpoint is disabled.\n'],
    ['/debug/flags/v', { ...on, enableDebugFlagsHandler: false }, 'flags endpoint is disabled.\n'],
    ['/debug/flags/v/', { ...on, enableDebugFlagsHandler: false }, 'flags endpoint is disabled.\n'],
    ['/debug/flags/v', on, undefined],
    ['/logs/x', on, undefined],
  ] as const)('%s with %j replies %j', (path, switches, text) => {
    expect(disabledEndpoint(path, switches)).toBe(text);
  });
});

describe('the labels of a request', () => {
  it.each([
    ['GET', '/pods', 'pods', 'false'],
    ['GET', '/metrics', 'metrics', 'false'],
    ['GET', '/metrics/cadvisor', 'metrics/cadvisor', 'false'],
    ['GET', '/metrics/x', 'other', 'false'],
    ['GET', '/healthz/ping', 'healthz', 'false'],
    ['POST', '/exec/a/b/c', 'exec', 'true'],
    ['POST', '/attach/a/b/c', 'attach', 'true'],
    ['GET', '/debug/pprof', 'debug', 'true'],
    ['POST', '/portForward/a/b', 'portForward', 'false'],
    ['GET', '/', 'other', 'false'],
    ['GET', '/../..', 'other', 'false'],
    ['GET', '/constructor', 'other', 'false'],
  ])('%s %s: path %s, long_running %s', (method, path, known, longRunning) => {
    expect(requestLabels(method, path, 'readwrite')).toEqual({
      method,
      path: known,
      server_type: 'readwrite',
      long_running: longRunning,
    });
  });

  it.each(['PATCH', 'PROPFIND', ''])('count the method %j as other', (method) => {
    expect(requestLabels(method, '/pods', 'readonly')).toMatchObject({ method: 'other', server_type: 'readonly' });
  });
});

describe('the settings of TLS', () => {
  it.each([
    ['', 'TLSv1.2'],
    ['VersionTLS10', 'TLSv1'],
    ['VersionTLS11', 'TLSv1.1'],
    ['VersionTLS12', 'TLSv1.2'],
    ['VersionTLS13', 'TLSv1.3'],
  ])('read the version %j as %s', (name, minVersion) => {
    expect(tlsSettings(name, []).minVersion).toBe(minVersion);
  });

  it('keep the suites of TLS 1.3 beside the chosen ones', () => {
    expect(tlsSettings('', ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']).ciphers.split(':')).toEqual([
      'TLS_AES_128_GCM_SHA256',
      'TLS_AES_256_GCM_SHA384',
      'TLS_CHACHA20_POLY1305_SHA256',
      'ECDHE-RSA-AES128-GCM-SHA256',
    ]);
  });

  it('have no suite without forward secrecy by default', () => {
    const ciphers = tlsSettings('', []).ciphers.split(':');
    expect(ciphers).toContain('ECDHE-ECDSA-AES256-GCM-SHA384');
    expect(ciphers.filter((name) => !/^(TLS_|ECDHE-)/.test(name))).toEqual([]);
    expect(ciphers).not.toContain('ECDHE-RSA-AES128-SHA256');
  });

  it('know the suites of Go', () => {
    expect(unknownSuite(['TLS_AES_128_GCM_SHA256', 'TLS_RSA_WITH_AES_128_CBC_SHA'])).toBeUndefined();
    expect(unknownSuite(['TLS_AES_128_GCM_SHA256', 'toString'])).toBe('toString');
  });
});

describe('running pods', () => {
  const container = (name: string, state: 'running' | 'exited') =>
    ({ name, image: `${name}:1`, state }) as RuntimePodStatus['containers'][number];
  const sandbox = (state: string) => ({ id: 's', state }) as RuntimePodStatus['sandboxes'][number];
  const status = (name: string, over: Partial<RuntimePodStatus>): RuntimePodStatus => ({
    ...emptyPodStatus({ uid: `uid-${name}`, namespace: 'ns', name }),
    ...over,
  });

  it('are those with a running container or a ready sandbox, with names and images alone', () => {
    const pods = runningPods([
      status('runs', {
        sandboxes: [sandbox('SANDBOX_READY')],
        containers: [container('a', 'running'), container('b', 'exited')],
      }),
      status('starts', { sandboxes: [sandbox('SANDBOX_READY')] }),
      status('ended', { sandboxes: [sandbox('SANDBOX_NOTREADY')], containers: [container('c', 'exited')] }),
      status('gone', {}),
    ]);
    expect(pods).toEqual([
      {
        metadata: { name: 'runs', namespace: 'ns', uid: 'uid-runs' },
        spec: { containers: [{ name: 'a', image: 'a:1' }] },
        status: {},
      },
      { metadata: { name: 'starts', namespace: 'ns', uid: 'uid-starts' }, spec: { containers: [] }, status: {} },
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { findRunningPod } from '../../../src/model/pleg/running-pods.js';
import { NO_PODS, type WantedPods, wantedPodsView, withoutPod, withPod } from '../../../src/model/pod/wanted-pods.js';
import { CONFIG_MIRROR_ANNOTATION, type Pod } from '../../../src/model/pod/pod.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { forwardedHeaders } from '../../../src/model/server/forwarded-headers.js';
import { hasForwardEnded } from '../../../src/model/server/has-forward-ended.js';
import { streamCall, type StreamSubject } from '../../../src/model/server/stream-call.js';
import { streamPath } from '../../../src/model/server/stream-path.js';
import { streamRefusal, TooManyStreams } from '../../../src/model/server/stream-refusal.js';
import { offeredProtocols } from '../../../src/model/server/token-protocol.js';

describe('the path', () => {
  it.each([
    ['/exec/ns/p/c', { kind: 'exec', namespace: 'ns', pod: 'p', container: 'c' }],
    ['/exec/ns/p/c/', { kind: 'exec', namespace: 'ns', pod: 'p', container: 'c' }],
    ['/exec/ns/p/u/c', { kind: 'exec', namespace: 'ns', pod: 'p', uid: 'u', container: 'c' }],
    ['/attach/ns/p/c', { kind: 'attach', namespace: 'ns', pod: 'p', container: 'c' }],
    ['/attach/ns/p/u/c', { kind: 'attach', namespace: 'ns', pod: 'p', uid: 'u', container: 'c' }],
    ['/portForward/ns/p', { kind: 'portForward', namespace: 'ns', pod: 'p' }],
    ['/portForward/ns/p/u', { kind: 'portForward', namespace: 'ns', pod: 'p', uid: 'u' }],
  ])('%s is %j', (path, expected) => {
    expect(streamPath(path)).toEqual(expected);
  });

  it.each([
    ...['/', '/exec', '/exec/ns', '/exec/ns/p', '/exec/ns/p/u/c/d', '/exec/ns//c', '/exec//p/c', '/exec/ns/p/c//'],
    ...[
      '//exec/ns/p/c',
      'exec/ns/p/c',
      '/Exec/ns/p/c',
      '/portforward/ns/p',
      '/portForward/ns',
      '/portForward/ns/p/u/c',
    ],
    ...['/pods/exec/ns/p/c', '/run/ns/p/c', '/execs/ns/p/c'],
  ])('%s is no path of a stream', (path) => {
    expect(streamPath(path)).toBeUndefined();
  });
});

const pod: Pod = {
  metadata: { name: 'p', namespace: 'ns', uid: 'u1' },
  spec: {
    containers: [{ name: 'main' }, { name: 'shell', tty: true }, { name: 'ended' }],
    initContainers: [{ name: 'side' }],
    ephemeralContainers: [{ name: 'debug', tty: true }],
  },
};
const sandbox = (id: string, state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY') => ({ id, state });
const container = (name: string, state: 'running' | 'exited' = 'running', id = `id-${name}`) => ({ id, name, state });
const running = (over: object = {}): RuntimePodStatus =>
  ({
    ...emptyPodStatus({ uid: 'u1', namespace: 'ns', name: 'p' }),
    sandboxes: [sandbox('s2', 'SANDBOX_NOTREADY'), sandbox('s1', 'SANDBOX_NOTREADY')],
    containers: [
      ...[container('main', 'exited', 'later'), container('main'), container('ended', 'exited'), container('shell')],
      ...[container('side'), container('debug'), container('unknown')],
    ],
    ...over,
  }) as unknown as RuntimePodStatus;

const subject = (status: RuntimePodStatus | undefined = running()): StreamSubject => ({
  pods: () => [{ ...pod, metadata: { ...pod.metadata, namespace: 'other', uid: 'u2' } }, pod],
  findRunning: (wanted) => status && findRunningPod([status], wanted),
});

const call = (url: string, isWebSocket = false, of = subject()) => {
  const { pathname, searchParams: query } = new URL(url, 'http://x');
  const path = streamPath(pathname);
  if (!path) throw new Error(`${url} is no stream`);
  return streamCall({ path, query, isWebSocket }, of);
};
const std = (over: object = {}) => ({ stdin: false, stdout: false, stderr: false, tty: false, ...over });
const NONE = { status: 400, body: 'you must specify at least 1 of stdin, stdout, stderr' };
const NO_POD = { status: 404, body: 'pod does not exist' };

describe('exec', () => {
  it.each([
    ['output=1&command=a&command=b%20c', std({ stdout: true }), ['a', 'b c']],
    ['input=1&output=1&error=1', std({ stdin: true, stdout: true, stderr: true }), []],
    ['input=1&output=1&error=1&tty=1&command=sh', std({ stdin: true, stdout: true, tty: true }), ['sh']],
    ['output=true&error=1', std({ stderr: true }), []],
    ['output=1&output=0&tty=01', std({ stdout: true }), []],
  ])('with %s requests %j', (query, streams, cmd) => {
    expect(call(`/exec/ns/p/main?${query}`)).toEqual({
      kind: 'exec',
      request: { containerId: 'id-main', cmd, ...streams },
    });
  });

  it.each([
    ['/exec/ns/p/main', NONE],
    ['/exec/ns/p/main?output=true', NONE],
    ['/exec/ns/p/main?error=1&tty=1', NONE],
    ['/exec/ns/gone/main?command=a', NONE],
    ['/exec/ns/gone/main?output=1', NO_POD],
    ['/exec/elsewhere/p/main?output=1', NO_POD],
    ['/exec/ns/p/ended?output=1', { status: 500, body: 'container not found ("ended")' }],
    ['/exec/ns/p/none?output=1', { status: 500, body: 'container not found ("none")' }],
    ['/exec/ns/p/u9/main?output=1', { status: 500, body: 'container not found ("main")' }],
  ])('%s is refused: %j', (url, refusal) => {
    expect(call(url)).toEqual(refusal);
  });

  it('accepts the UID of the pod, and refuses a pod that does not run', () => {
    expect(call('/exec/ns/p/u1/main?output=1')).toMatchObject({ kind: 'exec', request: { containerId: 'id-main' } });
    const stopped = running({ containers: [container('main', 'exited')] });
    const refusal = { status: 500, body: 'container not found ("main")' };
    expect(call('/exec/ns/p/main?output=1', false, subject(stopped))).toEqual(refusal);
  });

  it('finds the static pod of a mirror pod', () => {
    const ofUid = (wanted: WantedPods) =>
      ['mirror', 'u1', 'u7'].map((uid) => wantedPodsView(() => wanted).podUidOf(uid));
    const metadata = { ...pod.metadata, uid: 'mirror', annotations: { [CONFIG_MIRROR_ANNOTATION]: 'hash' } };
    const both = withPod(withPod(NO_PODS, pod), { ...pod, metadata });
    expect(ofUid(both)).toEqual(['u1', 'u1', 'u7']);
    expect(ofUid(withoutPod(both, pod))).toEqual(['mirror', 'u1', 'u7']);
  });
});

describe('attach', () => {
  it.each([
    ['main', 'output=1&tty=1', std({ stdout: true })],
    ['shell', 'input=1&output=1', std({ stdin: true, stdout: true, tty: true })],
    ['side', 'error=1', std({ stderr: true })],
    ['debug', 'output=1', std({ stdout: true, tty: true })],
  ])('to %s with %s has the terminal of the container', (name, query, streams) => {
    expect(call(`/attach/ns/p/${name}?${query}`)).toEqual({
      kind: 'attach',
      request: { containerId: `id-${name}`, ...streams },
    });
  });

  it.each([
    ['/attach/ns/p/main', NONE],
    ['/attach/ns/gone/main?output=1', NO_POD],
    ['/attach/ns/p/ended?output=1', { status: 500, body: 'container ended not found in pod p_ns' }],
    ['/attach/ns/p/unknown?output=1', { status: 500, body: 'container unknown not found in pod p_ns' }],
  ])('%s is refused: %j', (url, refusal) => {
    expect(call(url)).toEqual(refusal);
  });
});

describe('port-forward', () => {
  it.each([
    ['/portForward/ns/p', false, []],
    ['/portForward/ns/p/u1', false, []],
    ['/portForward/ns/p?port=x', false, []],
    ['/portForward/ns/p?port=80&port=90,65535', true, [80, 90, 65_535]],
  ])('%s (WebSocket: %s) requests the newest sandbox, with the ports %j', (url, isWebSocket, port) => {
    const pod = { namespace: 'ns', name: 'p', uid: 'u1' };
    expect(call(url, isWebSocket)).toEqual({ kind: 'portForward', pod, request: { podSandboxId: 's2', port } });
  });

  it.each([
    ['', { status: 400, body: 'query parameter "port" is required' }],
    ['?port=', { status: 400, body: 'query parameter "port" cannot be empty' }],
    ['?port=a', { status: 400, body: 'unable to parse "a" as a port: strconv.ParseUint: parsing "a": invalid syntax' }],
    [
      '?port=1,70000',
      {
        status: 400,
        body: 'unable to parse "1,70000" as a port: strconv.ParseUint: parsing "70000": value out of range',
      },
    ],
    ['?port=0', { status: 400, body: 'port "0" must be > 0' }],
  ])('by WebSocket with "%s" is refused before the pod is found', (query, refusal) => {
    expect(call(`/portForward/ns/gone${query}`, true)).toEqual(refusal);
  });

  it('is refused without the pod, for another UID, without a running pod, and without a sandbox', () => {
    expect(call('/portForward/ns/gone')).toEqual(NO_POD);
    expect(call('/portForward/ns/p/u9')).toEqual({ status: 404, body: 'pod not found' });
    const quiet = subject(running({ containers: [] }));
    expect(call('/portForward/ns/p', false, quiet)).toEqual({ status: 500, body: 'pod not found ("p_ns")' });
    const bare = subject(running({ sandboxes: [] }));
    const refusal = { status: 500, body: 'failed to find sandboxID for pod p_ns(u1)' };
    expect(call('/portForward/ns/p', false, bare)).toEqual(refusal);
  });
});

const withSandbox = (id: string, state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY') =>
  subject(running({ sandboxes: [sandbox(id, state)] }));
const notRead = { ...subject(), findRunning: () => undefined };

it.each([
  ['goes on while its sandbox is ready', false, withSandbox('s2', 'SANDBOX_READY')],
  ['ends with a sandbox that is not ready', true, withSandbox('s2', 'SANDBOX_NOTREADY')],
  ['ends where the pod has another sandbox', true, withSandbox('s3', 'SANDBOX_READY')],
  ['goes on while the pod is wanted and cannot be read', false, notRead],
  [
    'goes on in the grace period of a pod that is not wanted any more',
    false,
    { ...withSandbox('s2', 'SANDBOX_READY'), pods: () => [] },
  ],
  ['ends where the pod is neither wanted nor there', true, { ...notRead, pods: () => [] }],
  [
    'ends with a pod that has succeeded',
    true,
    { ...notRead, pods: () => [{ ...pod, status: { phase: 'Succeeded' } }] },
  ],
])('a port-forward %s', (_, hasEnded, of) => {
  expect(hasForwardEnded({ pod: pod.metadata, podSandboxId: 's2' }, of)).toBe(hasEnded);
});

describe('an error of the runtime', () => {
  it.each([
    [new CriError('not-found', 'Exec', 'no c'), { status: 404, body: 'rpc error: code = NotFound desc = no c' }],
    [
      new CriError('resource-exhausted', 'Exec', 'full'),
      { status: 429, body: 'rpc error: code = ResourceExhausted desc = full', retryAfterSeconds: 60 },
    ],
    [
      new CriError('unimplemented', 'Exec', 'no streams'),
      { status: 500, body: 'rpc error: code = Unimplemented desc = no streams' },
    ],
    [new CriError('other', 'Exec', 'URL is not set'), { status: 500, body: 'URL is not set' }],
    [new Error('error dialing backend: x'), { status: 500, body: 'error dialing backend: x' }],
    [new TooManyStreams('too many'), { status: 429, body: 'too many' }],
  ])('%s becomes %j', (error, refusal) => {
    expect(streamRefusal(error)).toEqual(refusal);
  });
});

const PREFIX = 'base64url.bearer.authorization.k8s.io.';
const encoded = (bytes: string | Buffer): string => `${PREFIX}${Buffer.from(bytes).toString('base64url')}`;

describe('the token of a WebSocket protocol', () => {
  it.each([
    ['absent', undefined, { others: [] }],
    ['none', 'v4.channel.k8s.io, channel.k8s.io', { others: ['v4.channel.k8s.io', 'channel.k8s.io'] }],
    ['first', `${encoded('tökén')}, v4.channel.k8s.io`, { token: 'tökén', others: ['v4.channel.k8s.io'] }],
    ['last', `v4.channel.k8s.io,${encoded('t')}`, { token: 't', others: ['v4.channel.k8s.io'] }],
    ['empty', `v4.channel.k8s.io,${PREFIX}`, { others: ['v4.channel.k8s.io'] }],
    ['alone', encoded('t'), { isTokenMalformed: true, others: [] }],
    ['double', `a,${encoded('t')},${encoded('t')}`, { isTokenMalformed: true, others: ['a'] }],
    ['padded', `a,${PREFIX}dA==`, { isTokenMalformed: true, others: ['a'] }],
    ['no base64url', `a,${PREFIX}d+/A`, { isTokenMalformed: true, others: ['a'] }],
    ['cut off', `a,${PREFIX}dGVzd`, { isTokenMalformed: true, others: ['a'] }],
    ['no UTF-8', `a,${encoded(Buffer.of(0xff, 0xfe))}`, { isTokenMalformed: true, others: ['a'] }],
  ])('%s', (_, header, expected) => {
    expect(offeredProtocols(header)).toEqual(expected);
  });
});

describe('the headers for the runtime', () => {
  it('are those of the client in their order and case, without its credentials and its body', () => {
    const sent = [
      ...[
        'Host',
        'node:10250',
        'Authorization',
        'Bearer t',
        'X-Stream-Protocol-Version',
        'v4',
        'Connection',
        'Upgrade',
      ],
      ...[
        'x-stream-protocol-version',
        'v3',
        'Content-Length',
        '0',
        'TRANSFER-ENCODING',
        'chunked',
        'AUTHORIZATION',
        'x',
      ],
      ...['Sec-WebSocket-Protocol', `${encoded('t')}, b`, 'sec-websocket-protocol', 'c', 'X-Forwarded-For', '10.0.0.1'],
    ];
    expect(forwardedHeaders(sent, '::1')).toEqual([
      ['Host', ['node:10250']],
      ['X-Stream-Protocol-Version', ['v4', 'v3']],
      ['Connection', ['Upgrade']],
      ['Sec-WebSocket-Protocol', ['b, c']],
      ['X-Forwarded-For', ['10.0.0.1, ::1']],
    ]);
  });

  it('have no protocol if the token was the only one, and the address of the client alone', () => {
    expect(forwardedHeaders(['Sec-WebSocket-Protocol', encoded('t')], '127.0.0.1')).toEqual([
      ['X-Forwarded-For', ['127.0.0.1']],
    ]);
    expect(forwardedHeaders([], undefined)).toEqual([]);
  });
});

import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXEC, StreamStage } from './stream-stage.js';
import { ACCEPTED } from './streaming-peer.js';

let stage: StreamStage;
beforeAll(async () => {
  stage = await StreamStage.make();
  await stage.begin();
});
afterAll(() => stage.dispose());

/** The whole reply to these bytes, of which `Connection: close` is a part, so that the server closes the connection after it. */
const replyTo = async (text: string): Promise<string> => {
  const socket = connect({ host: '127.0.0.1', port: Number(stage.url.port), rejectUnauthorized: false });
  let reply = '';
  socket.setEncoding('latin1').on('data', (part: string) => (reply += part));
  socket.on('error', () => undefined).write(text);
  await once(socket, 'close');
  return reply;
};

const ADMIN = 'Authorization: Bearer admin';
const request = (line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: node', 'Connection: close', ...headers, '', ''].join('\r\n');
const exec = (...headers: readonly string[]): string =>
  [`POST ${EXEC} HTTP/1.1`, 'Host: node', ADMIN, ...headers, '', ''].join('\r\n');
const pods = (...headers: readonly string[]): string => request('GET /pods', ...headers);
const filler = (bytes: number): string => `X-Filler: ${'x'.repeat(bytes)}`;

it.each<[string, string, readonly number[]]>([
  ['a scheme in lower case', pods('authorization: bearer admin'), [200]],
  ['a scheme alone', pods('Authorization: Bearer'), [401]],
  ['two spaces before its token', pods('Authorization: Bearer  admin'), [401]],
  ['two tokens, of which the first one is accepted', pods(ADMIN, 'Authorization: Bearer wrong'), [200]],
  ['two tokens, of which the second one is accepted', pods('Authorization: Bearer wrong', ADMIN), [401]],
  ['a password before a token', pods('Authorization: Basic YTpi', ADMIN), [401]],
  ['a WebSocket of a million empty options', pods('Upgrade: websocket', `Connection: ${','.repeat(1_000_000)}`), [401]],
  ['a header of nearly 1 MiB', pods(ADMIN, filler(1_000_000)), [200]],
  ['a longer header', pods(ADMIN, filler(2 ** 20)), [431]],
  ['a wait for its body to be wanted', pods(ADMIN, 'Expect: 100-continue'), [100, 200]],
  ['another expectation', pods(ADMIN, 'Expect: the-best'), [417]],
  ['two lengths of its body', pods(ADMIN, 'Content-Length: 1', 'Content-Length: 2'), [400]],
  ['a length and chunks', pods(ADMIN, 'Content-Length: 4', 'Transfer-Encoding: chunked'), [400]],
  ['no host', pods(ADMIN).replace('Host: node\r\n', ''), [400]],
  ['no host, in HTTP/1.0', pods(ADMIN).replace('Host: node\r\n', '').replace('/1.1', '/1.0'), [200]],
  ['the method HEAD', request('HEAD /pods', ADMIN), [200]],
  ['the method HEAD, for a log', request('HEAD /containerLogs/d/p/c', ADMIN), [404]],
  ['a protocol, but no connection for it', exec('Upgrade: SPDY/3.1', 'Connection: close'), [500]],
  ['a connection for a protocol, but none', exec('Connection: Upgrade, close'), [500]],
  ['a connection for a protocol, in lower case', exec('connection: upgrade', 'upgrade: spdy/3.1'), [101]],
])('a request with %s', async (_, text, statuses) => {
  stage.peer.behaviour = (socket) => void socket.end(ACCEPTED);
  const reply = await replyTo(text);
  expect([...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual(statuses);
});

it('for a path with encoded and repeated slashes is refused, or of the pod of this name', async () => {
  const statusOf = async (path: string): Promise<string> =>
    (await replyTo(request(`GET ${path}`, ADMIN))).split('\r\n')[0]!;
  expect(await statusOf('//pods')).toBe('HTTP/1.1 404 Not Found');
  expect(await statusOf('/%2Fpods')).toBe('HTTP/1.1 404 Not Found');
  expect(await statusOf('/pods%2F')).toBe('HTTP/1.1 404 Not Found');
  expect(await statusOf('/pods%00')).toBe('HTTP/1.1 404 Not Found');
  expect(await statusOf('/pods%')).toBe('HTTP/1.1 400 Bad Request');
  expect(await statusOf('/exec//p/c?output=1')).toBe('HTTP/1.1 404 Not Found');
  expect(await statusOf('/exec/d%2Fp%2Fc?output=1')).toBe('HTTP/1.1 500 Internal Server Error');
});

it.each([
  ['http://node/metrics', 200],
  ['http://node/metrics/../pods', 404],
  ['http://node/pods', 403],
  ['http://node:99999/exec/d/p/c?output=1', 400],
])('with access to metrics alone for %s has the reply %i', async (url, status) => {
  expect(await replyTo(request(`GET ${url}`, 'Authorization: Bearer scraper'))).toMatch(
    new RegExp(`^HTTP/1.1 ${status} `),
  );
});

import { fc } from '@fast-check/vitest';

/** A request as the bytes of a connection, in the parts in which they are written. */
export interface OddRequest {
  readonly kind: string;
  readonly parts: readonly Buffer[];
}

const PATHS = [
  ...['/', '/healthz', '/healthz/ping', '/pods', '/metrics', '/runningpods/', '/configz', '/statusz', '/flagz'],
  ...['/debug/pprof/', '/debug/flags/v', '/logs/', '/logs/?query=x', '/stats/summary', '/metrics/slis'],
  ...['/exec/d/p/c?output=1', '/attach/d/p/c?output=1', '/portForward/d/p', '/containerLogs/d/p/c', '/run/d/p/c?cmd=x'],
];
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
  'X',
];
const ODD_PATHS = [
  ...['*', '//', '/..%2f..%2fetc/passwd', '/%', '/%zz', '/%00', '/logs/%2e%2e/%2e%2e/etc/passwd', '/logs/..\\..\\x'],
  ...['http://', 'http://other/pods', 'https://[::1/', '/pods?%', '/pods#x', '/exec/%2f/%2f/%2f?output=1', '/%ff%fe'],
  ...['/containerLogs/d/p/c?tailLines=%', '/logs/?query=%00&boot=x', '/debug/pprof/profile?seconds=1e9', '/\u00e9', ''],
  ...[`/${'a/'.repeat(3_000)}`, `/pods?${'a=b&'.repeat(2_000)}`, '/portForward/d/p?port=0&port=x&port=70000'],
];

const text = (kind: string, lines: string): OddRequest => ({ kind, parts: [Buffer.from(lines, 'latin1')] });
const request = (method: string, path: string, headers: string, body = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;
const TOKEN = 'Authorization: Bearer admin\r\n';

const path = fc.constantFrom(...PATHS);
const method = fc.constantFrom(...METHODS);
const credentials = fc.constantFrom(
  '',
  TOKEN,
  TOKEN,
  TOKEN,
  TOKEN,
  'Authorization: Bearer wrong\r\n',
  'Authorization: \x01\r\n',
);
const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength }).map((value) => Buffer.from(value));

const cutShort = fc
  .tuple(method, path, credentials, fc.nat(80))
  .map(([name, at, who, length]) => text('cut short', request(name, at, who).slice(0, length)));

const wrongLengths = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'PUT'),
    path,
    credentials,
    fc.constantFrom('-1', '1e9', '5', '99999999999999999999', 'x', '4, 5', '0x10', ''),
  )
  .map(([name, at, who, length]) =>
    text('wrong length', request(name, at, `${who}Content-Length: ${length}\r\n`, 'abc')),
  );

const chunkLies = fc
  .tuple(
    path,
    credentials,
    fc.constantFrom(
      '5\r\nabc',
      'zz\r\nabc\r\n',
      'ffffffffffffffff\r\n',
      '3;x=y\r\nabc\r\n',
      '3\r\nabcdef\r\n0\r\n',
      '-1\r\n',
      '0\r\nX: y',
    ),
  )
  .map(([at, who, body]) => text('chunk lie', request('PUT', at, `${who}Transfer-Encoding: chunked\r\n`, body)));

const smuggled = fc
  .tuple(path, credentials)
  .map(([at, who]) =>
    text(
      'smuggled',
      request(
        'POST',
        at,
        `${who}Content-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n`,
        '0\r\n\r\nGET /pods HTTP/1.1\r\n\r\n',
      ),
    ),
  );

const headers = fc
  .tuple(
    path,
    credentials,
    fc.constantFrom(1, 100, 2_000, 20_000),
    fc.constantFrom(
      'a: b',
      ': x',
      'no colon',
      'a\0b: c',
      'X-\u00ff: y',
      'Host: again',
      'Expect: 100-continue',
      'Expect: odd',
    ),
  )
  .map(([at, who, count, line]) =>
    text('headers', request('GET', at, who + `${line}\r\n`.repeat(Math.ceil(count / line.length)))),
  );

const upgrades = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'PUT'),
    path,
    credentials,
    fc.constantFrom('websocket', 'SPDY/3.1', 'h2c', 'TLS/1.0', '', 'SPDY/3.1, websocket'),
    fc.constantFrom('Upgrade', 'keep-alive', 'close, Upgrade'),
    bytes(64),
  )
  .map(([name, at, who, protocol, connection, rest]) => ({
    kind: 'upgrade',
    parts: [
      Buffer.from(
        request(name, at, `${who}Connection: ${connection}\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Key: x\r\n`),
        'latin1',
      ),
      rest,
    ],
  }));

const oddMethods = fc
  .tuple(fc.oneof(method, fc.string({ maxLength: 12 })), fc.constantFrom(...PATHS, ...ODD_PATHS), credentials)
  .map(([name, at, who]) => text('method and path', request(name, at, who)));

const oddVersions = fc
  .tuple(path, fc.constantFrom('HTTP/0.9', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1.1 x', 'HTTPS/1.1', ''))
  .map(([at, version]) => text('version', `GET ${at} ${version}\r\n\r\n`));

const pipelined = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('GET', 'HEAD', 'DELETE'), path), { minLength: 2, maxLength: 12 }),
    credentials,
  )
  .map(([list, who]) => text('pipelined', list.map(([name, at]) => request(name, at, who)).join('')));

const preface = fc
  .boolean()
  .map((isWhole) => text('HTTP/2', `PRI * HTTP/2.0\r\n\r\n${isWhole ? 'SM\r\n\r\n\0\0\0\x04\0\0\0\0\0' : 'S'}`));
const hello = bytes(200).map((rest) => ({
  kind: 'TLS',
  parts: [Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), rest],
}));
const junk = fc.array(bytes(100), { minLength: 1, maxLength: 3 }).map((parts) => ({ kind: 'junk', parts }));

const odd: fc.Arbitrary<OddRequest> = fc.oneof(
  ...[
    cutShort,
    wrongLengths,
    chunkLies,
    smuggled,
    headers,
    upgrades,
    oddMethods,
    oddVersions,
    pipelined,
    preface,
    hello,
    junk,
  ],
);

/** The same requests for the same count and seed. */
export const oddRequests = (numRuns: number, seed: number): readonly OddRequest[] => fc.sample(odd, { numRuns, seed });

import { describe, expect, it } from 'vitest';
import {
  type HttpGetRequest,
  httpGetRequest,
  resolvePort,
  urlOf,
  withoutTls,
} from '../../../src/model/config/http-get.js';
import type { Container, HttpGetAction } from '../../../src/model/pod/pod.js';

const container: Container = {
  name: 'main',
  ports: [{ name: 'web', containerPort: 8080 }, { containerPort: 9090 }],
};
const requestOf = (action: Partial<HttpGetAction>, podIp = '10.0.0.1'): HttpGetRequest =>
  httpGetRequest({ port: 80, ...action }, { container, podIp, purpose: 'lifecycle' });

describe('the request of an httpGet', () => {
  it.each<[Partial<HttpGetAction>, string]>([
    [{}, 'http://10.0.0.1:80/'],
    [{ host: '' }, 'http://10.0.0.1:80/'],
    [{ host: 'web.test', scheme: 'HTTPS', port: 'web' }, 'https://web.test:8080/'],
    [{ path: '/a?b=c&d#e' }, 'http://10.0.0.1:80/a?b=c&d'],
    [{ path: 'a' }, 'http://10.0.0.1:80/a'],
    [{ path: '/a/../b//c' }, 'http://10.0.0.1:80/a/../b//c'],
    [{ path: '/%C3%A4/a b/ä?q=a b' }, 'http://10.0.0.1:80/%C3%A4/a%20b/%C3%A4?q=a%20b'],
    [{ path: 'https://elsewhere.test:1/a?b' }, 'http://10.0.0.1:80/a?b'],
    [{ path: '//elsewhere.test/a' }, 'http://10.0.0.1:80/a'],
    [{ path: '?b' }, 'http://10.0.0.1:80/?b'],
    [{ path: '/50%?a#b' }, 'http://10.0.0.1:80/50%25%3Fa%23b'],
  ])('%j goes to %s', (action, url) => {
    expect(urlOf(requestOf(action))).toBe(url);
  });

  it('writes an IPv6 address in brackets', () => {
    const request = requestOf({}, 'fd00::1');
    expect(urlOf(request)).toBe('http://[fd00::1]:80/');
    expect(request).toMatchObject({ host: 'fd00::1', port: 80 });
    expect(request.headers[0]).toEqual(['Host', '[fd00::1]:80']);
  });

  it.each<{ case: string; given: readonly (readonly [string, string])[]; sent: readonly string[] }>([
    { case: 'none', given: [], sent: ['Host: 10.0.0.1:80', 'User-Agent: kube-lifecycle/1.37', 'Accept: */*'] },
    {
      case: 'a name twice, in any case',
      given: [
        ['x-one', '1'],
        ['X-ONE', '2'],
      ],
      sent: ['Host: 10.0.0.1:80', 'User-Agent: kube-lifecycle/1.37', 'Accept: */*', 'X-One: 1', 'X-One: 2'],
    },
    {
      case: 'those that would be set anyway',
      given: [
        ['host', 'web.test'],
        ['user-agent', 'me'],
        ['accept', 'text/plain'],
      ],
      sent: ['Host: web.test', 'User-Agent: me', 'Accept: text/plain'],
    },
    {
      case: 'the same, empty',
      given: [
        ['host', ''],
        ['user-agent', ''],
        ['accept', ''],
      ],
      sent: ['Host: 10.0.0.1:80'],
    },
    {
      case: 'of a body',
      given: [
        ['content-length', '5'],
        ['transfer-encoding', 'chunked'],
        ['trailer', 'x'],
      ],
      sent: ['Host: 10.0.0.1:80', 'User-Agent: kube-lifecycle/1.37', 'Accept: */*'],
    },
  ])('has headers: $case', ({ given, sent }) => {
    const { headers } = requestOf({ httpHeaders: given.map(([name, value]) => ({ name, value })) });
    expect(headers.map((header) => header.join(': '))).toEqual(sent);
  });

  it('does not show who asks once it goes without TLS', () => {
    const headers = ['Authorization', 'authorization', 'X-Other'].map((name) => ({ name, value: 'secret' }));
    const plain = withoutTls(requestOf({ scheme: 'HTTPS', httpHeaders: headers }));
    expect(urlOf(plain)).toBe('http://10.0.0.1:80/');
    expect(plain.headers.map(([name]) => name)).toEqual(['Host', 'User-Agent', 'Accept', 'X-Other']);
  });
});

describe('a port', () => {
  it.each([
    [80, 80],
    ['web', 8080],
    ['443', 443],
  ])('%j is %i', (port, number) => expect(resolvePort(port, container)).toBe(number));

  it.each([
    [0, 'invalid port number: 0'],
    [65_536, 'invalid port number: 65536'],
    ['70000', 'invalid port number: 70000'],
    ['other', 'the container has no port named "other"'],
    ['', 'the container has no port named ""'],
  ])('%j is none', (port, message) => expect(() => resolvePort(port, container)).toThrow(message));
});

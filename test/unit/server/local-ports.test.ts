import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import { localAddresses, localPorts } from '../../../src/model/server/local-ports.js';

const pod: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'app', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }] },
};

describe('the ports of port-forward', () => {
  it.each([
    ['80', { local: 80, remote: 80 }],
    ['8000:80', { local: 8000, remote: 80 }],
    [':80', { local: 0, remote: 80 }],
    ['0:80', { local: 0, remote: 80 }],
    ['http', { local: 8080, remote: 8080 }],
    ['80:http', { local: 80, remote: 8080 }],
  ])('%s', (text, expected) => {
    expect(localPorts([text], pod)).toEqual([expected]);
  });

  it.each([
    ['1:2:3', "invalid port format '1:2:3'"],
    ['', `error parsing remote port '': strconv.ParseUint: parsing "": invalid syntax`],
    ['x:80', `error parsing local port 'x': strconv.ParseUint: parsing "x": invalid syntax`],
    ['80:-1', `error parsing remote port '-1': strconv.ParseUint: parsing "-1": invalid syntax`],
    ['65536', `error parsing remote port '65536': strconv.ParseUint: parsing "65536": value out of range`],
    ['80:0', 'remote port must be > 0'],
    ['https', "Pod 'web' does not have a named port 'https'"],
  ])('%j is refused', (text, message) => {
    expect(() => localPorts([text], pod)).toThrow(new Error(message));
  });

  it('are needed', () => {
    expect(() => localPorts([], pod)).toThrow(new Error('at least 1 PORT is required for port-forward'));
  });
});

describe('the addresses of port-forward', () => {
  const addresses = (text: string) => localAddresses(text, (address) => isIP(address) !== 0);

  it('are each listed once; localhost is two of them', () => {
    const [four, six] = ['127.0.0.1', '::1'].map((address) => ({ address, isOfLocalhost: true }));
    expect(addresses('localhost')).toEqual([four, six]);
    expect(addresses('0.0.0.0, localhost,::1,0.0.0.0')).toEqual([
      { address: '0.0.0.0', isOfLocalhost: false },
      four,
      six,
    ]);
  });

  it.each(['', 'example.com', '1.2.3'])('are refused as %j', (text) => {
    expect(() => addresses(text)).toThrow(new Error(`${text} is not a valid IP`));
  });
});

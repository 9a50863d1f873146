import { describe, expect, it } from 'vitest';
import { criClient } from '../../src/runtime/cri-client.js';
import { parseCriEndpoint } from '../../src/runtime/cri-endpoint.js';

describe('an endpoint', () => {
  it.each([
    ['unix:///run/containerd/containerd.sock', 'unix:///run/containerd/containerd.sock'],
    ['unix:/run/x.sock', 'unix:///run/x.sock'],
    ['/run/x.sock', 'unix:///run/x.sock'],
  ])('%s is %s', (text, expected) => {
    expect(parseCriEndpoint(text)).toBe(expected);
  });

  it.each([
    ['', 'the endpoint is empty'],
    ['tcp://127.0.0.1:1234', 'the scheme tcp is not supported'],
    ['npipe:////./pipe/x', 'the scheme npipe is not supported'],
    ['run/x.sock', 'the path of the socket must be absolute'],
    ['unix://run/x.sock', 'the path of the socket must be absolute'],
    ['unix:///', 'the path of the socket is missing'],
    [`/${'x'.repeat(107)}`, 'the path has 108 bytes and a socket allows 107'],
  ])('%s is refused', (text, problem) => {
    expect(() => parseCriEndpoint(text, 'imageServiceEndpoint')).toThrow(
      `imageServiceEndpoint: ${problem}, got ${JSON.stringify(text)}; expected unix:///path/to/socket`,
    );
  });

  it('that is wrong is refused before anything is connected', () => {
    expect(() => criClient({ endpoint: 'tcp://x:1' })).toThrow('containerRuntimeEndpoint: the scheme tcp');
    expect(() => criClient({ endpoint: '/x', imageEndpoint: 'y' })).toThrow('imageServiceEndpoint: the path');
  });
});

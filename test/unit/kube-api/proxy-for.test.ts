import { expect, it } from 'vitest';
import { proxyFor } from '../../../src/kube-api/proxy-for.js';

const HTTPS_PROXY = 'http://proxy:3128';

it.each([
  ['https://api:6443', { HTTPS_PROXY }, 'http://proxy:3128/'],
  ['https://api:6443', { https_proxy: 'proxy:3128' }, 'http://proxy:3128/'],
  ['https://api:6443', { HTTPS_PROXY: 'socks5://proxy:1080' }, 'socks5://proxy:1080'],
  ['https://api:6443', { HTTP_PROXY: HTTPS_PROXY }, undefined],
  ['http://api:8080', { HTTP_PROXY: HTTPS_PROXY }, 'http://proxy:3128/'],
  ['https://localhost:6443', { HTTPS_PROXY }, undefined],
  ['https://127.8.9.10:6443', { HTTPS_PROXY }, undefined],
  ['https://[::1]:6443', { HTTPS_PROXY }, undefined],
  ['https://api.example.com', { HTTPS_PROXY, NO_PROXY: '*' }, undefined],
  ['https://api.example.com', { HTTPS_PROXY, NO_PROXY: 'other, example.com' }, undefined],
  ['https://example.com', { HTTPS_PROXY, no_proxy: 'example.com' }, undefined],
  ['https://example.com', { HTTPS_PROXY, NO_PROXY: '.example.com' }, 'http://proxy:3128/'],
  ['https://api.example.com', { HTTPS_PROXY, NO_PROXY: '*.example.com' }, undefined],
  ['https://notexample.com', { HTTPS_PROXY, NO_PROXY: 'example.com' }, 'http://proxy:3128/'],
  ['https://example.com', { HTTPS_PROXY, NO_PROXY: 'example.com:443' }, undefined],
  ['https://example.com:6443', { HTTPS_PROXY, NO_PROXY: 'example.com:443' }, 'http://proxy:3128/'],
  ['https://10.1.2.3:6443', { HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' }, undefined],
  ['https://11.1.2.3:6443', { HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' }, 'http://proxy:3128/'],
  ['https://10.1.2.3:6443', { HTTPS_PROXY, NO_PROXY: '10.1.2.3' }, undefined],
  ['https://[fd00::5]:6443', { HTTPS_PROXY, NO_PROXY: 'fd00::/16' }, undefined],
  ['https://[fd00::5]:6443', { HTTPS_PROXY, NO_PROXY: '[fd00::5]:6443' }, undefined],
  ['https://api', { HTTPS_PROXY, NO_PROXY: '10.0.0.0/99' }, 'http://proxy:3128/'],
])('%s with %o: %s', (server, env, expected) => {
  expect(proxyFor(new URL(server), env)?.href).toBe(expected);
});

it('names the variable that is wrong', () => {
  expect(() => proxyFor(new URL('https://api'), { HTTPS_PROXY: 'http://[' })).toThrow(
    'HTTPS_PROXY: expected the URL of a proxy, found "http://["',
  );
});

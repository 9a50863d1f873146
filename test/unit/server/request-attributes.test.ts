import { fc, it as property } from '@fast-check/vitest';
import createRouter from 'find-my-way';
import { describe, expect, it } from 'vitest';
import {
  authorizationErrorText,
  forbiddenText,
  requestAttributes,
} from '../../../src/model/server/request-attributes.js';
import { requestPath } from '../../../src/model/server/request-path.js';
import { ANONYMOUS } from '../../../src/model/server/request-user.js';

describe('the attributes of a request', () => {
  it.each([
    ['/pods', ['pods', 'proxy']],
    ['/pods/', ['pods', 'proxy']],
    ['/pods/x', ['pods', 'proxy']],
    ['/podsx', ['proxy']],
    ['/runningpods/', ['pods', 'proxy']],
    ['/healthz', ['healthz', 'proxy']],
    ['/healthz/syncloop', ['healthz', 'proxy']],
    ['/configz', ['configz', 'proxy']],
    ['/stats/summary', ['stats']],
    ['/metrics', ['metrics']],
    ['/metrics/cadvisor', ['metrics']],
    ['/metrics/slis', ['metrics']],
    ['/metrics/../pods', ['metrics']],
    ['/logs/', ['log']],
    ['/logs/syslog', ['log']],
    ['/checkpoint/ns/pod/c', ['checkpoint']],
    ['/statusz', ['statusz']],
    ['/flagz', ['configz']],
    ['/exec/ns/pod/c', ['proxy']],
    ['/attach/ns/pod/c', ['proxy']],
    ['/run/ns/pod/c', ['proxy']],
    ['/portForward/ns/pod', ['proxy']],
    ['/containerLogs/ns/pod/c', ['proxy']],
    ['/debug/pprof/heap', ['proxy']],
    ['/debug/flags/v', ['proxy']],
    ['/', ['proxy']],
    ['*', ['proxy']],
    ['//metrics', ['proxy']],
    ['/Metrics', ['proxy']],
  ])('of %s are the subresources %j', (path, subresources) => {
    expect(requestAttributes('GET', path).subresources).toEqual(subresources);
  });

  it.each([
    ['GET', 'get'],
    ['POST', 'create'],
    ['PUT', 'update'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
    ['HEAD', ''],
    ['OPTIONS', ''],
    ['constructor', ''],
  ])('of the method %s is the verb %j', (method, verb) => {
    expect(requestAttributes(method, '/pods').verb).toBe(verb);
  });

  it('are named by the texts of refusals', () => {
    expect(forbiddenText(ANONYMOUS, requestAttributes('GET', '/pods'))).toBe(
      'Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
    );
    expect(authorizationErrorText(ANONYMOUS, 'get', 'pods')).toBe(
      'Authorization error (user=system:anonymous, verb=get, resource=nodes, subresource=pods)',
    );
  });
});

describe('the path of a request', () => {
  it.each([
    ['/pods?x=/metrics', '/pods'],
    ['/%70ods', '/pods'],
    ['/metrics%2Fcadvisor', '/metrics/cadvisor'],
    ['http://node:10250/pods?x', '/pods'],
    ['http://node:10250', '/'],
    ['http://node:99999/pods', undefined],
    ['http://[::1/pods', undefined],
    ['http:///pods', undefined],
    ['/pods#/metrics', '/pods'],
    ['', undefined],
    ['*', undefined],
    ['*pods', undefined],
    [';pods', undefined],
    ['?metrics', undefined],
    ['/%', undefined],
    ['/%ff', undefined],
  ])('%j is %j', (url, path) => {
    expect(requestPath(url)).toBe(path);
  });

  const routes = ['/healthz', '/pods', '/metrics', '/metrics/probes', '/configz', '/runningpods'];
  const router = createRouter({ ignoreTrailingSlash: true });
  for (const route of routes) router.on('GET', route, () => undefined, { route });

  const part = fc.constantFrom(
    ...[
      '/',
      'pods',
      'metrics',
      'probes',
      'configz',
      '..',
      '.',
      '%2f',
      '%70',
      '%',
      '?',
      '#',
      ';',
      '//',
      'http://h',
      '%2e',
      ' ',
    ],
  );
  property.prop([fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))], { numRuns: 3_000 })(
    'has the access rules of the route that serves it, however a client writes it',
    (url) => {
      const found = router.find('GET', url)?.store as { readonly route: string } | undefined;
      const path = requestPath(url);
      // The guard refuses it before the router.
      if (!found || path === undefined) return;
      expect(requestAttributes('GET', path)).toEqual(requestAttributes('GET', found.route));
    },
  );
});

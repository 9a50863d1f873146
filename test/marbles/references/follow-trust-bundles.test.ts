import { concat, defer, map, NEVER, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { TrustBundleEvent } from '../../../src/model/references/known-trust-bundles.js';
import type { ApiRequest, ApiServer } from '../../../src/streams/ports/api-server.js';
import { followTrustBundles } from '../../../src/streams/references/follow-trust-bundles.js';
import { inTurn, marbles } from '../marbles.js';

const GROUP = '/apis/certificates.k8s.io';
const noSuchPath = new ApiError({ code: 404, message: '404 page not found' });
const away = new ApiError({ message: 'connect ECONNREFUSED' });
const list = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'ClusterTrustBundleList',
  metadata: { resourceVersion: '1' },
  items: [],
};
const resources = (...names: string[]) => ({ resources: [null, ...names.map((name) => ({ name }))] });

/** A server whose answers to each path come in turn; what it is not asked to have it does not know. */
const stageOf = (
  { scheduler }: { readonly scheduler: SchedulerLike },
  answers: Readonly<Record<string, readonly (object | ApiError)[]>>,
) => {
  const asked: string[] = [];
  const logged: string[] = [];
  const turns = new Map(
    Object.entries(answers).map(([path, all]) => [
      `${GROUP}${path}`,
      inTurn(...all.map((one) => defer(() => (one instanceof ApiError ? throwError(() => one) : of(one))))),
    ]),
  );
  const answer = (path: string): Observable<unknown> => {
    asked.push(path.replace(GROUP, ''));
    return turns.get(path) ?? throwError(() => noSuchPath);
  };
  const say = (_: object, message: string) => logged.push(message);
  const event$ = followTrustBundles({
    api: {
      get: <T>(path: string) => answer(path) as Observable<T>,
      request: ({ path }: ApiRequest) => answer(path),
      watch: () => concat(of({ kind: 'opened' as const }), NEVER) as ReturnType<ApiServer['watch']>,
    },
    log: { debug: say, info: say, warn: say, error: say },
    ...{ scheduler, random: () => 0 },
  }).pipe(map(letterOf));
  return { event$, asked, logged };
};

const letterOf = ({ kind }: TrustBundleEvent): string => kind.slice(0, 1);
const BUNDLES = resources('certificatesigningrequests', 'clustertrustbundles');

describe('the trust bundles of a cluster are watched', () => {
  it.each([
    ['v1', { '/v1': [BUNDLES], '/v1/clustertrustbundles': [list] }, ['/v1', '/v1/clustertrustbundles']],
    [
      'v1beta1, where v1 has other kinds only',
      {
        '/v1': [resources('certificatesigningrequests')],
        '/v1beta1': [BUNDLES],
        '/v1beta1/clustertrustbundles': [list],
      },
      ['/v1', '/v1beta1', '/v1beta1/clustertrustbundles'],
    ],
    [
      'v1alpha1, where there is no v1beta1',
      { '/v1': [{}], '/v1alpha1': [BUNDLES], '/v1alpha1/clustertrustbundles': [list] },
      ['/v1', '/v1beta1', '/v1alpha1', '/v1alpha1/clustertrustbundles'],
    ],
  ])('in the newest version that the server has: %s', (_, answers, expected) =>
    marbles((tools) => {
      const { event$, asked } = stageOf(tools, answers);
      tools.expectObservable(event$, '60s !').toBe('r');
      tools.scheduler.schedule(() => expect(asked).toEqual(expected), 59_000);
    })(),
  );

  it(
    'a minute after the server had none, and as soon as it has them at such a time',
    marbles((tools) => {
      const { event$, asked, logged } = stageOf(tools, {
        '/v1': [{}, noSuchPath, BUNDLES],
        '/v1/clustertrustbundles': [list],
      });
      const expected = 'n 59999ms n 59999ms r';
      tools.expectObservable(event$, '3m !').toBe(expected);
      tools.scheduler.schedule(() => {
        expect(asked.filter((path) => path === '/v1beta1')).toHaveLength(2);
        expect(logged).toEqual(['the API server has no trust bundles']);
      }, 179_000);
    }),
  );

  it(
    'after 0.8 s and ever longer where that cannot be found out, which is said once',
    marbles((tools) => {
      const { event$, logged } = stageOf(tools, {
        '/v1': [away, away, away, BUNDLES],
        '/v1/clustertrustbundles': [list],
      });
      const expected = 'p 799ms p 1599ms p 3199ms r';
      tools.expectObservable(event$, '10s !').toBe(expected);
      tools.scheduler.schedule(() => {
        expect(logged).toEqual(Array(3).fill('cannot find out whether the API server has trust bundles'));
      }, 9_000);
    }),
  );

  it(
    'in another version where the server has lost one',
    marbles((tools) => {
      const { event$, asked } = stageOf(tools, {
        '/v1': [noSuchPath, BUNDLES],
        '/v1beta1': [BUNDLES],
        '/v1beta1/clustertrustbundles': [noSuchPath],
        '/v1/clustertrustbundles': [list],
      });
      const expected = 'p 799ms r';
      tools.expectObservable(event$, '10s !').toBe(expected);
      tools.scheduler.schedule(() => {
        expect(asked).toEqual(['/v1', '/v1beta1', '/v1beta1/clustertrustbundles', '/v1', '/v1/clustertrustbundles']);
      }, 9_000);
    }),
  );
});

import { catchError, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import type { Secret } from '../../../src/model/references/referenced-object.js';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import type { KeptList } from '../../../src/model/reflector/known-objects.js';
import { objectKeeper } from '../../../src/streams/references/kept-objects.js';
import { memoryLastKnown } from '../../support/memory-last-known.js';
import { marbles } from '../marbles.js';
import { follow } from './reflector-story.js';
import { line, listOf, objectOf, opened } from './scripted-api.js';

const odd = (name: string, version: number): ApiObject => ({ ...objectOf(name, version), data: 7 }) as ApiObject;
const secrets = { path: '/api/v1/secrets', name: 'secrets' };

describe('an object that is none of its type', () => {
  it('makes a list fail, except of pods, which are checked one by one', () => {
    const lists = [of(listOf(5, [objectOf('a', 1), odd('b', 2)]))];
    expect(follow(1, () => ({ lists }), secrets).at(-1)).toBe(
      '0 error: GET /api/v1/secrets: items[1] cannot be read: data is a number, expected a mapping of names to values',
    );
    const pods = [of({ ...listOf(5, []), items: [objectOf('a', 1), odd('b', 2), null, 'x', { metadata: 7 }] })];
    expect(follow(1, () => ({ lists: pods }), { path: '/api/v1/pods', name: 'pods' })[1]).toMatch(/^0 5: a b/);
  });

  it('is left out of a watch, but its end counts', () => {
    const lines = {
      ...{ o: opened, x: line('MODIFIED', odd('a', 6)), d: line('DELETED', odd('a', 7)) },
      b: line('ADDED', objectOf('b', 8)),
    };
    const script = (cold: Parameters<Parameters<typeof follow>[1]>[0]) => ({
      lists: [of(listOf(5, [objectOf('a', 1)]))],
      watches: [cold('oxdb', lines)],
    });
    expect(follow(9, script, secrets).slice(3)).toEqual([
      '1 error: the watch event MODIFIED cannot be read: data is a number, expected a mapping of names to values',
      '2 well',
      '2 -a',
      '3 +b',
    ]);
  });

  it(
    'is no answer',
    marbles(({ scheduler, expectObservable }) => {
      const answer = { metadata: { name: 'n' }, spec: { taints: [{ key: 'a', effect: 1 }] } };
      const api = { request: () => of(answer), watch: () => NEVER };
      const node$ = apiClient(api, { qps: -1, burst: 0, scheduler }).get('/api/v1/nodes/n');
      const said$ = node$.pipe(catchError((error: unknown) => of(errorText(error))));
      const message =
        'GET /api/v1/nodes/n: the answer cannot be read: spec.taints[0].effect is a number, expected a string';
      expectObservable(said$).toBe('(m|)', { m: message });
    }),
  );

  it(
    'is left out of what was kept, also one of a list',
    marbles(({ scheduler, expectObservable }) => {
      const logged: string[] = [];
      const log = {
        debug: () => 0,
        info: () => 0,
        error: () => 0,
        warn: (fields: object) => logged.push(String(Object.values(fields)[0])),
      };
      const list = (item: unknown): KeptList<ApiObject> => ({
        metadata: {},
        items: [objectOf('a', 1), item as ApiObject],
      });
      const disk = memoryLastKnown({
        'Secret ns/s': { metadata: { name: 's' }, data: 7 } as ApiObject,
        'Secret ns/t': { metadata: { name: 't' } },
        'ServiceList /': list({ metadata: { name: 'b' }, spec: { ports: [{ port: 'x' }] } }),
        'RuntimeClassList /': list(null),
      });
      const keeper = objectKeeper(disk, log);
      expectObservable(keeper.run$, '--!').toBe('');
      scheduler.schedule(() => {
        const kept = keeper.of<Secret>('Secret');
        expect([kept.get('ns', 's'), kept.get('ns', 't')?.metadata.name]).toEqual([undefined, 't']);
        expect(keeper.of('ServiceList').get('', '')).toBeUndefined();
        expect(logged).toEqual(['Secret ns/s', 'ServiceList /', 'RuntimeClassList /']);
      }, 1);
    }),
  );
});

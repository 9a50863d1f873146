import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import { objectKeeper } from '../../../src/streams/references/kept-objects.js';
import type { KeptList } from '../../../src/model/reflector/known-objects.js';
import { reflectedObjects } from '../../../src/streams/reflector/reflected-objects.js';
import { memoryLastKnown } from '../../support/memory-last-known.js';
import { marbles } from '../marbles.js';

const one = (name: string, resourceVersion = '1'): ApiObject => ({ metadata: { name, resourceVersion } });
const problem = (code?: number): ReflectorEvent => ({
  ...{ kind: 'problem', step: 'list', severity: 'error' },
  error: new ApiError({ ...(code && { code }), message: 'any' }),
});
const events: Readonly<Record<string, ReflectorEvent>> = {
  r: { kind: 'replaced', objects: [one('a'), one('b')], resourceVersion: '2' },
  n: { kind: 'replaced', objects: [], resourceVersion: '5' },
  p: { kind: 'put', object: one('c', '3') },
  d: { kind: 'deleted', object: one('a', '4') },
  x: problem(),
  f: problem(403),
  o: { kind: 'recovered' },
};
const silent = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 };

describe('all objects of a collection', () => {
  it(
    'are known from the first list on, also after failures of the server',
    marbles(({ cold, scheduler, expectObservable }) => {
      const { objects, run$ } = reflectedObjects(cold('-r-p-d-x-o-n', events));
      const known: (string | undefined)[] = [];
      const look = () => known.push(objects() && [...objects()!.keys()].join(''));
      [0, 2, 4, 6, 8, 10, 12].forEach((at) => scheduler.schedule(look, at));
      expectObservable(run$, '--------------!').toBe('');
      scheduler.schedule(() => expect(known).toEqual([undefined, 'ab', 'abc', 'bc', 'bc', 'bc', '']), 13);
    }),
  );

  it(
    'are those that an earlier agent knew, where the server is found to be away, until it is back',
    marbles(({ cold, scheduler, expectObservable }) => {
      const before: KeptList<ApiObject> = { metadata: {}, items: [one('k')] };
      const disk = memoryLastKnown({ 'ServiceList /': before });
      const keeper = objectKeeper(disk, silent);
      const { objects, run$ } = reflectedObjects(cold('-f-x-r', events), keeper.of('ServiceList'));
      const known: (string | undefined)[] = [];
      const look = () => known.push(objects() && [...objects()!.keys()].join(''));
      [0, 2, 4, 6].forEach((at) => scheduler.schedule(look, at));
      expectObservable(keeper.run$, '--------!').toBe('');
      expectObservable(run$, '--------!').toBe('');
      scheduler.schedule(() => {
        expect(known).toEqual([undefined, undefined, 'k', 'ab']);
        expect(disk.did).toEqual(['write ServiceList / 2']);
      }, 7);
    }),
  );

  it(
    'are kept with every change',
    marbles(({ cold, scheduler, expectObservable }) => {
      const disk = memoryLastKnown();
      const keeper = objectKeeper(disk, silent);
      const { run$ } = reflectedObjects(cold('-r-p-d-o', events), keeper.of('ServiceList'));
      expectObservable(keeper.run$, '--------!').toBe('');
      expectObservable(run$, '--------!').toBe('');
      scheduler.schedule(() => {
        expect(disk.did).toEqual(['write ServiceList / 2', 'write ServiceList / 3', 'write ServiceList / 4']);
        const { items } = disk.onDisk.get('ServiceList /') as KeptList<ApiObject>;
        expect(items.map(({ metadata }) => metadata.name)).toEqual(['b', 'c']);
      }, 9);
    }),
  );
});

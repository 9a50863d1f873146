import { map, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { Service } from '../../../src/model/references/referenced-object.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import { followServices } from '../../../src/streams/references/services.js';
import { marbles } from '../marbles.js';

type Event = ReflectorEvent<Service>;
const problem = (error: ApiError): Event => ({ kind: 'problem', step: 'list', severity: 'error', error });
const message = 'field label not supported: spec.clusterIP';
const NO_SELECTOR = new ApiError({ code: 400, message });
const events: Readonly<Record<string, Event>> = {
  r: { kind: 'replaced', objects: [], resourceVersion: '1' },
  x: problem(new ApiError({ message })),
  b: problem(NO_SELECTOR),
};

describe('the services of all namespaces', () => {
  it(
    'are watched except headless ones, also after failures of the server',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const selected = cold('-r--x--r', events);
      const asked: string[] = [];
      const event$ = followServices(({ path, fieldSelector }) => {
        asked.push(`${path} ${fieldSelector ?? ''}`);
        return selected;
      });
      expectObservable(event$, '---------!').toBe('-r--x--r', events);
      expectSubscriptions(selected.subscriptions).toBe('^--------!');
      expect(asked).toEqual(['/api/v1/services spec.clusterIP!=None']);
    }),
  );

  it(
    'are all followed from a server that cannot select them, at once and from then on',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const selected = cold('--b', events);
      const all = cold('       -r--b--r', events);
      const event$ = followServices(({ fieldSelector, isExpected }) => {
        // An old server is no error of a node that joins it.
        expect(isExpected?.(NO_SELECTOR)).toBe(fieldSelector && true);
        return fieldSelector ? selected : all;
      });
      expectObservable(event$, '-----------!').toBe('---r--b--r', events);
      expectSubscriptions(selected.subscriptions).toBe('^-!');
      expectSubscriptions(all.subscriptions).toBe('--^--------!');
      expectObservable(followServices(() => NEVER).pipe(map(() => 0)), '---!').toBe('');
    }),
  );
});

import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ConfigMap } from '../../../src/model/references/referenced-object.js';
import type { ReflectorEvent, ReflectorProblem } from '../../../src/model/reflector/reflector-event.js';
import { followReferenced } from '../../../src/streams/references/follow-referenced.js';
import { inTurn, marbles } from '../marbles.js';

type Event = ReflectorEvent<ConfigMap>;
const problem = (code: number, severity: ReflectorProblem['severity'] = 'error'): Event => ({
  ...{ kind: 'problem', step: 'list', severity },
  error: new ApiError({ code, reason: code === 403 ? 'Forbidden' : '', message: `status ${code}` }),
});
const events: Readonly<Record<string, Event>> = {
  r: { kind: 'replaced', objects: [], resourceVersion: '1' },
  f: problem(403),
  e: problem(500, 'warning'),
  o: { kind: 'recovered' },
};

const logStage = () => {
  const logged: string[] = [];
  const say = (level: string) => (fields: object, message: string) =>
    logged.push(`${level} ${message}: ${Object.values(fields).join(' ')}`);
  return { logged, log: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') } };
};
const name = 'configmap ns/cm';

describe('an object that the server refuses', () => {
  it(
    'is asked for again after 25, 100 and 400 ms, since the server may not know yet that its pod is here',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const follow = cold('--f', events);
      const { log, logged } = logStage();
      const event$ = followReferenced(follow, { name, scheduler, log });
      expectObservable(event$, '2s !').toBe('533ms f', events);
      expectSubscriptions(follow.subscriptions).toBe(['^-!', '27ms ^-!', '129ms ^-!', '531ms ^ 1468ms !']);
      scheduler.schedule(
        () => expect(logged).toEqual([`error cannot watch an object of the API server: ${name} list status 403`]),
        1_000,
      );
    }),
  );

  it(
    'is followed as soon as the server knows, without a word about it',
    marbles(({ cold, scheduler, expectObservable }) => {
      const follow = inTurn(cold('-f', events), cold('-f', events), cold('-r--f', events));
      const { log, logged } = logStage();
      // What is refused later is for the reflector.
      expectObservable(followReferenced(follow, { name, scheduler, log }), '1s !').toBe('128ms r--f', events);
      scheduler.schedule(() => expect(logged).toHaveLength(1), 500);
    }),
  );
});

it(
  'an object of a server that is away is for the reflector, and the log has it as loud as that says',
  marbles(({ cold, scheduler, expectObservable }) => {
    const { log, logged } = logStage();
    expectObservable(followReferenced(cold('-e--f-o', events), { name, scheduler, log }), '9ms !').toBe(
      '-e--f-o',
      events,
    );
    scheduler.schedule(
      () =>
        expect(logged).toEqual([
          `warn cannot watch an object of the API server: ${name} list status 500`,
          `error cannot watch an object of the API server: ${name} list status 403`,
          `info an object of the API server is watched again: ${name}`,
        ]),
      9,
    );
  }),
);

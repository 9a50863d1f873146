import fc from 'fast-check';
import { concat, defer, ignoreElements, map, merge, Observable, of, tap, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { type ApiObject, objectKey } from '../../../src/model/kube-api/api-object.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import type { ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { reflector } from '../../../src/streams/reflector/reflector.js';
import {
  bookmark,
  expired,
  internal,
  line,
  listOf,
  objectOf,
  opened,
  refused,
  reset,
  tooMany,
} from './scripted-api.js';

/** The changes on the server, and the failures of its clients. */
type Step =
  | { readonly kind: 'put' | 'delete'; readonly name: string }
  /** Every connection ends, in this way. */
  | { readonly kind: 'break'; readonly how: 'closed' | 'reset' | '410' | '429' | '500' }
  /** Nothing that is sent arrives any more on the connections there are. */
  | { readonly kind: 'stall' }
  /** The number of requests that fail from now on. */
  | { readonly kind: 'fail'; readonly how: 'refused' | '429' | '500'; readonly requests: number }
  /** History up to now is forgotten. */
  | { readonly kind: 'compact' }
  | { readonly kind: 'bookmark' };

const name = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('break' as const),
      how: fc.constantFrom('closed' as const, 'reset' as const, '410' as const, '429' as const, '500' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'stall' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      how: fc.constantFrom('refused' as const, '429' as const, '500' as const),
      requests: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'compact' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'bookmark' as const }) },
);
const history = fc.array(fc.record({ afterMs: fc.constantFrom(0, 1, 3, 400, 2_000, 50_000), step }), { maxLength: 30 });

interface Change {
  readonly version: number;
  readonly message: ApiWatchMessage;
  readonly object: ApiObject;
}

interface Connection {
  sent: number;
  isStalled: boolean;
  readonly send: (message: ApiWatchMessage) => void;
  readonly end: (error?: unknown) => void;
}

const FIRST_VERSION = 100;
const failures = { refused, 429: tooMany(), 500: internal };

/** A server with a history, and an old cache from which it lists what may be old. */
const tinyServer = (cacheLag: number) => {
  const changes: Change[] = [];
  const objects = new Map<string, ApiObject>();
  const connections = new Set<Connection>();
  let compacted = FIRST_VERSION;
  let failing: { readonly how: '429' | '500' | 'refused'; requests: number } | undefined;

  const version = (): number => FIRST_VERSION + changes.length;
  const at = (upTo: number): ReadonlyMap<string, ApiObject> =>
    changes
      .filter((change) => change.version <= upTo)
      .reduce<ReadonlyMap<string, ApiObject>>(
        (all, { object, message }) =>
          foldReflected(all, {
            kind: message.kind === 'event' && message.type === 'DELETED' ? 'deleted' : 'put',
            object,
          }),
        new Map(),
      );
  const pump = (connection: Connection): void => {
    for (const { version: of, message } of changes) {
      if (of <= connection.sent || connection.isStalled) continue;
      connection.sent = of;
      connection.send(message);
    }
  };
  const mayFail = <T>(answer: () => Observable<T>): Observable<T> =>
    defer(() => {
      if (!failing || failing.requests === 0) return answer();
      failing.requests--;
      return throwError(() => failures[failing?.how ?? 500]);
    });
  const change = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string): void => {
    const object = objectOf(name, version() + 1);
    if (type === 'DELETED') objects.delete(objectKey(object));
    else objects.set(objectKey(object), object);
    changes.push({ version: version() + 1, message: line(type, object), object });
    for (const connection of connections) pump(connection);
  };
  const ends = { closed: undefined, reset, 410: 410, 429: 429, 500: 500 } as const;

  const apply = (step: Step): void => {
    switch (step.kind) {
      case 'put':
        return change(objects.has(`default/${step.name}`) ? 'MODIFIED' : 'ADDED', step.name);
      case 'delete':
        return objects.has(`default/${step.name}`) ? change('DELETED', step.name) : undefined;
      case 'break':
        for (const connection of [...connections]) {
          const end = ends[step.how];
          if (typeof end !== 'number') connection.end(end);
          else {
            const reason = { 410: 'Expired', 429: 'TooManyRequests', 500: 'InternalError' }[end];
            connection.send(line('ERROR', { kind: 'Status', code: end, reason, message: `${end}` }));
          }
        }
        return;
      case 'stall':
        for (const connection of connections) connection.isStalled = true;
        return;
      case 'fail':
        failing = { how: step.how, requests: step.requests };
        return;
      case 'compact':
        compacted = version();
        return;
      case 'bookmark':
        for (const connection of connections) if (!connection.isStalled) connection.send(bookmark(version()));
        return;
    }
  };

  const api: ApiServer = {
    request: ({ query: { resourceVersion = '' } = {} }) =>
      mayFail(() => {
        // A cache may lag behind, but never behind what is asked for.
        const lagging = Math.max(FIRST_VERSION, version() - cacheLag);
        const upTo = resourceVersion === '' ? version() : Math.max(lagging, Number(resourceVersion));
        if (upTo > version())
          return throwError(() => new ApiError({ code: 504, message: 'Too large resource version' }));
        return timer(1).pipe(map(() => listOf(upTo, [...at(upTo).values()])));
      }),
    watch: ({ query: { resourceVersion = '' } = {} }) =>
      mayFail(() =>
        Number(resourceVersion) < compacted
          ? throwError(() => expired)
          : concat(of(opened), connect(Number(resourceVersion))),
      ),
  };
  const connect = (from: number): Observable<ApiWatchMessage> =>
    new Observable((subscriber) => {
      const connection: Connection = {
        sent: from,
        isStalled: false,
        send: (message) => subscriber.next(message),
        end: (error) => (error === undefined ? subscriber.complete() : subscriber.error(error)),
      };
      connections.add(connection);
      // What is known already comes again.
      const again = changes.find(({ version }) => version === from);
      if (again) connection.send(again.message);
      pump(connection);
      return () => connections.delete(connection);
    });
  return { api, apply, objects, changes, at };
};

const silent = () => undefined;
const noLog = { debug: silent, info: silent, warn: silent, error: silent };
/** Two silent watches, the wait after them and a list. */
const QUIET_MS = 300_000;

/** The objects by `objectKey` after one more event; the same map where nothing changes. */
const foldReflected = (
  objects: ReadonlyMap<string, ApiObject>,
  event: ReflectorEvent<ApiObject>,
): ReadonlyMap<string, ApiObject> => {
  switch (event.kind) {
    case 'replaced':
      return new Map(event.objects.map((object) => [objectKey(object), object]));
    case 'put':
      return new Map(objects).set(objectKey(event.object), event.object);
    case 'deleted': {
      const left = new Map(objects);
      return left.delete(objectKey(event.object)) ? left : objects;
    }
    case 'problem':
    case 'recovered':
      return objects;
  }
};

it('emits every change of a history once and in order, with any number of failures, and ends with the objects of the server', () => {
  fc.assert(
    fc.property(
      history,
      fc.integer({ min: 0, max: 5 }),
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      (steps, lag, chance) => {
        const server = tinyServer(lag);
        let reached = 0;
        let known: ReadonlyMap<string, ApiObject> = new Map();
        const check = (event: ReflectorEvent): void => {
          known = foldReflected(known, event);
          if (event.kind === 'replaced') {
            expect(Number(event.resourceVersion)).toBeGreaterThanOrEqual(reached);
            reached = Number(event.resourceVersion);
            expect(bare(known)).toEqual(bare(server.at(reached)));
          } else if (event.kind === 'put' || event.kind === 'deleted') {
            reached += 1;
            const change = server.changes.find(({ version }) => version === reached);
            expect(event.object).toEqual(change?.object);
            const type = change?.message.kind === 'event' ? change.message.type : undefined;
            expect(event.kind).toBe(type === 'DELETED' ? 'deleted' : 'put');
          }
        };
        const scheduler = new TestScheduler(silent);
        const endMs = steps.reduce((sum, { afterMs }) => sum + afterMs, 0) + QUIET_MS;
        scheduler.maxFrames = endMs;
        const said: ReflectorEvent[] = [];
        scheduler.run(({ expectObservable }) => {
          const step$ = concat(
            ...steps.map(({ afterMs, step }) =>
              timer(afterMs, scheduler).pipe(
                tap(() => server.apply(step)),
                ignoreElements(),
              ),
            ),
          );
          const event$ = reflector(
            { api: server.api, scheduler, random: () => chance, log: noLog },
            { path: '/api/v1/things', name: 'things' },
          ).pipe(tap((event) => said.push(event)));
          expectObservable(merge(event$, step$), `${endMs}ms !`);
        });
        said.forEach(check);
        expect(bare(known)).toEqual(bare(server.objects));
      },
    ),
    { numRuns: 300 },
  );
});

/** Lists give their items a type, lines of a watch have their own. */
const bare = (objects: ReadonlyMap<string, ApiObject>): readonly unknown[] =>
  [...objects.values()]
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    .toSorted((one, other) => one.localeCompare(other));

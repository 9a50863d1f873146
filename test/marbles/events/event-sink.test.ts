import { defer, EMPTY, ignoreElements, merge, type Observable, of, type SchedulerLike, Subject, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiEvent } from '../../../src/model/events/api-event.js';
import { type EventSink, eventSink } from '../../../src/streams/events/event-sink.js';
import type { ApiRequest } from '../../../src/streams/ports/api-server.js';
import type { NodeAgentEvent } from '../../../src/streams/ports/record-event.js';
import { aPod } from '../../support/a-pod.js';
import { metricLines } from '../../support/metric-lines.js';
import { inTurn, marbles } from '../marbles.js';

const fact = (message: string, more: Partial<NodeAgentEvent> = {}): NodeAgentEvent => ({
  ...{ pod: aPod(), type: 'Normal', reason: 'Pulled', message, causes: [] },
  ...more,
});
/** Each about a pod of its own, so that nothing is similar and nothing is too much. */
const aboutPod = (name: string, more: Partial<NodeAgentEvent> = {}): NodeAgentEvent =>
  fact(name, { pod: aPod({ name, uid: name }), ...more });

const unanswered = new ApiError({ message: 'connection refused' });
const reply = (code: number, reason: string) => new ApiError({ code, reason, message: reason });

interface Stage {
  readonly sink: EventSink;
  /** What is asked of the API server, when: `POST a 1` for the message and the count of an event. */
  readonly asked$: Observable<string>;
  /** The events of the journal and the log. */
  readonly heard: NodeAgentEvent[];
  readonly requests: ApiRequest[];
  readonly metrics: string[];
  readonly logged: string[];
}

/** A sink whose API server answers every request with `answer$`. */
const stage = (
  answer$: Observable<unknown>,
  scheduler: SchedulerLike,
  {
    qps = 0,
    burst = 0,
    random = 0.3,
    nodeUid,
  }: {
    readonly qps?: number;
    readonly burst?: number;
    readonly random?: number;
    readonly nodeUid?: () => string | undefined;
  } = {},
): Stage => {
  const heard: NodeAgentEvent[] = [];
  const requests: ApiRequest[] = [];
  const logged: string[] = [];
  const log = (fields: object, text: string) => void logged.push(text);
  const asked = new Subject<string>();
  const { metrics, lines } = metricLines();
  const sink = eventSink(
    {
      api: {
        request: (request) =>
          defer(() => {
            const { message, count } = request.body as ApiEvent;
            requests.push(request);
            asked.next(`${request.method} ${message} ${count}`);
            return answer$;
          }),
        watch: () => EMPTY,
      },
      recordEvent: (event) => heard.push(event),
      ...{ scheduler, random: () => random, wallClock: () => scheduler.now() },
      log: { debug: () => undefined, info: log, warn: log, error: log },
      metrics,
    },
    { nodeName: 'node-1', qps, burst, ...(nodeUid && { nodeUid }) },
  );
  return { sink, asked$: asked, heard, requests, metrics: lines, logged };
};

/** The requests while the sink runs and receives `event$`. */
const running = ({ sink, asked$ }: Stage, event$: Observable<NodeAgentEvent>): Observable<string> =>
  merge(asked$, sink.run$, event$.pipe(tap(sink.recordEvent), ignoreElements()));

/** Requests by a letter of a marble diagram. */
const ASKED = { a: 'POST a 1', b: 'POST b 1', c: 'POST c 1', A: 'PATCH a 2', B: 'PATCH a 3', F: 'POST a 2' };
const FACTS = { a: aboutPod('a'), b: aboutPod('b'), c: aboutPod('c') };

describe('events on their way to the API server', () => {
  it(
    'are written one after the other, and reach the journal and the log at once',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler, flush }) => {
      const event = hot('   (abc)           ', FACTS);
      const answer = cold('      ---(x|)    ');
      const expected = '    a--b--c-        ';
      const one = stage(answer, scheduler);
      expectObservable(running(one, event), '----------------!').toBe(expected, ASKED);
      expectSubscriptions(answer.subscriptions).toBe(['^--!', '---^--!', '------^--!']);
      flush();
      expect(one.heard).toEqual(Object.values(FACTS));
      expect(one.requests[0]).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/default/events' });
    }),
  );

  it(
    'about the node carry the UID under which it was first registered, and its name before that',
    marbles(({ hot, expectObservable, scheduler, flush }) => {
      const event = hot('   abcd            ', {
        ...{ a: fact('a', { pod: undefined }), b: fact('b', { pod: undefined }) },
        ...{ c: fact('c', { pod: undefined }), d: aboutPod('d') },
      });
      const expected = '    abcd            ';
      const nodeUid = () => [undefined, 'first', 'second', 'second'][scheduler.now()];
      const one = stage(of({}), scheduler, { nodeUid });
      expectObservable(running(one, event), '----------------!').toBe(expected, { ...ASKED, d: 'POST d 1' });
      flush();
      const uids = one.requests.map(({ body }) => (body as ApiEvent).involvedObject.uid);
      expect(uids).toEqual(['node-1', 'first', 'first', 'd']);
    }),
  );

  it(
    'that come again while they wait are one write, and a patch when the API server has them',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const event = hot('   aaa----a---     ', FACTS);
      const answer = cold('      ----(x|)   ');
      const expected = '    a---B---C       ';
      const one = stage(answer, scheduler);
      expectObservable(running(one, event), '----------------!').toBe(expected, { ...ASKED, C: 'PATCH a 4' });
      flush();
      const { metadata } = one.requests[0]?.body as ApiEvent;
      expect(one.requests[1]).toEqual({
        method: 'PATCH',
        path: `/api/v1/namespaces/default/events/${metadata.name}`,
        contentType: 'application/strategic-merge-patch+json',
        body: { count: 3, lastTimestamp: '1970-01-01T00:00:00Z', message: 'a' },
      });
    }),
  );

  it(
    'that occurred several times before the sink ran are written with their count',
    marbles(({ cold, expectObservable, scheduler }) => {
      const one = stage(cold('(x|)'), scheduler);
      one.sink.recordEvent(FACTS.a);
      one.sink.recordEvent(FACTS.a);
      expectObservable(running(one, EMPTY), '----------------!').toBe('F', ASKED);
    }),
  );

  it(
    'are created again when the API server no longer has them',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const event = hot('   a---a-----', FACTS);
      const answer = inTurn(cold('(x|)'), cold('--#', {}, reply(404, 'NotFound')), cold('(x|)'));
      const expected = '    a---A-F---';
      expectObservable(running(stage(answer, scheduler), event), '----------------!').toBe(expected, ASKED);
    }),
  );

  it(
    'are patched when the API server has them although its answer was lost',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const event = hot('   aa', FACTS);
      const answer = inTurn(cold('--#', {}, unanswered), cold('#', {}, reply(409, 'AlreadyExists')), cold('(x|)'));
      const expected = '    a- 3s (FA)';
      expectObservable(running(stage(answer, scheduler), event), '9s !').toBe(expected, ASKED);
    }),
  );

  it(
    'are tried twelve times without an answer, after a random share of 10 s and then each 10 s; then the next one is',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const event = hot('   (ab)', FACTS);
      const gone = cold('#', {}, unanswered);
      const answer = inTurn(...Array.from({ length: 12 }, () => gone), cold('(x|)'));
      const expected = `    a 2999ms a ${'9999ms a '.repeat(9)} 9999ms (abN)`;
      const one = stage(answer, scheduler);
      expectObservable(running(one, event), '200s !').toBe(expected, {
        ...ASKED,
        N: 'POST Events that did not reach the API server while it took none: 1 1',
      });
      flush();
      expect(one.metrics.filter((line) => line.startsWith('eventDropped'))).toEqual(['eventDropped unanswered']);
      expect(one.logged).toContain('an event could not be written, it is tried again');
    }),
  );

  it(
    'wait a random share of 10 s before the second try',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const answer = inTurn(cold('#', {}, unanswered), cold('(x|)'));
      const one = stage(answer, scheduler, { random: 0.75 });
      expectObservable(running(one, hot('a', FACTS)), '20s !').toBe('a 7499ms a', ASKED);
    }),
  );

  it(
    'that the API server refuses are gone, and the next one goes at once',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const event = hot('   (ab)', FACTS);
      const answer = inTurn(cold('--#', {}, reply(403, 'Forbidden')), cold('(x|)'));
      const one = stage(answer, scheduler);
      expectObservable(running(one, event), '20s !').toBe('a-b', ASKED);
      flush();
      expect(one.metrics).toContain('eventDropped refused');
      expect(one.logged).toEqual(['the API server refused an event']);
    }),
  );

  it(
    'that the server has an error of its own with wait 10 s behind the others, which go on, new ones as well',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const event = hot('   (ab) 3s c', FACTS);
      const answer = inTurn(cold('#', {}, reply(500, 'InternalError')), cold('(x|)'), cold('(x|)'), cold('(x|)'));
      const one = stage(answer, scheduler);
      expectObservable(running(one, event), '60s !').toBe('(ab) 3s c 6995ms a', ASKED);
      flush();
      expect(one.metrics.filter((line) => line.startsWith('eventDropped'))).toEqual([]);
    }),
  );

  it(
    'that the server has an error of its own with are tried twelve times, then they are dropped and counted',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const broken = cold('#', {}, reply(500, 'InternalError'));
      const answer = inTurn(...Array.from({ length: 12 }, () => broken), cold('(x|)'), cold('(x|)'));
      const one = stage(answer, scheduler);
      const expected = `a ${'9999ms a '.repeat(11)} 9999ms (bN)`;
      expectObservable(running(one, hot('a 119999ms b', FACTS)), '200s !').toBe(expected, {
        ...ASKED,
        N: 'POST Events that did not reach the API server while it took none: 1 1',
      });
      flush();
      expect(one.metrics.filter((line) => line.startsWith('eventDropped'))).toEqual(['eventDropped unanswered']);
    }),
  );

  it(
    'go at the rate that is configured',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const one = stage(cold('(x|)'), scheduler, { qps: 2, burst: 1 });
      expectObservable(running(one, hot('(abc)', FACTS)), '20s !').toBe('a 499ms b 499ms c', ASKED);
    }),
  );

  it(
    'stay when the sink stops in the middle of one, and are sent when it runs again',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const event = hot('   (ab)', FACTS);
      const answer = cold('      ----(x|)');
      const one = stage(answer, scheduler);
      expectObservable(running(one, event), ' --!').toBe('a', ASKED);
      expectObservable(running(one, EMPTY), ' -----^-----------!').toBe('-----a---b', ASKED);
      expectSubscriptions(answer.subscriptions).toBe(['^-!', '-----^---!', '---------^---!']);
    }),
  );

  it(
    'have a name of their own, whenever they happen',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const event = hot('(ab)', { a: fact('a'), b: fact('b') });
      const one = stage(cold('(x|)'), scheduler);
      expectObservable(running(one, event), '20s !').toBe('(ab)', ASKED);
      flush();
      expect(new Set(one.requests.map(({ body }) => (body as ApiEvent).metadata.name)).size).toBe(2);
    }),
  );
});

describe('events that do not arrive', () => {
  it(
    'in an overflow are the stalest, and their number is sent when the API server answers again',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const many = Array.from({ length: 1_003 }, (_, index) => aboutPod(`p${index}`));
      const answer = inTurn(cold('-#', {}, unanswered), ...Array.from({ length: 1_100 }, () => of({})));
      const one = stage(answer, scheduler);
      const event = hot<NodeAgentEvent[]>('m', { m: many });
      const told$ = event.pipe(
        tap((all) => all.forEach(one.sink.recordEvent)),
        ignoreElements(),
      );
      expectObservable(merge(one.sink.run$, told$), '20s !').toBe('');
      flush();
      const messages = one.requests.slice(1).map(({ body }) => (body as ApiEvent).message);
      expect(messages).toEqual([
        'p0',
        ...many.slice(4).map(({ message }) => message),
        'Events that did not reach the API server while it took none: 3',
      ]);
      expect(one.heard.filter(({ reason }) => reason === 'EventsDropped').map(({ message }) => message)).toEqual([
        'More than 1000 events wait for the API server, the stalest of them are dropped',
        'Events that did not reach the API server while it took none: 3',
      ]);
      expect(one.requests.at(-1)?.body).toMatchObject({
        involvedObject: { kind: 'Node', name: 'node-1' },
        type: 'Warning',
        reason: 'EventsDropped',
      });
      expect(one.metrics.filter((line) => line.startsWith('eventDropped'))).toEqual(
        Array.from({ length: 3 }, () => 'eventDropped overflow'),
      );
      expect(one.metrics.at(-1)).toBe('eventsQueued 0');
    }),
  );

  it(
    'with the event that reports others are reported with the next one',
    marbles(({ hot, cold, expectObservable, scheduler, flush }) => {
      const gone = cold('#', {}, unanswered);
      const twelve = () => Array.from({ length: 12 }, () => gone);
      const taken = of({});
      const answer = inTurn(...twelve(), ...twelve(), taken, ...twelve(), taken, taken);
      const one = stage(answer, scheduler);
      const facts = { ...FACTS, d: aboutPod('d') };
      expectObservable(running(one, hot('(abc) 400s d', facts)).pipe(ignoreElements()), '600s !').toBe('');
      flush();
      const written = one.requests.map(({ body }) => (body as ApiEvent).message);
      const notice = 'Events that did not reach the API server while it took none: 2';
      expect(written.filter((message, index) => message !== written[index - 1])).toEqual([
        ...['a', 'b', 'c', notice, 'd', notice],
      ]);
      const begin = 'The API server takes no events, those that were tried for too long are dropped';
      expect(one.heard.filter(({ reason }) => reason === 'EventsDropped').map(({ message }) => message)).toEqual([
        ...[begin, notice, begin, notice],
      ]);
    }),
  );

  it(
    'for they are too many about one pod are in the journal and the log all the same',
    marbles(({ cold, expectObservable, scheduler, flush }) => {
      const one = stage(cold('(x|)'), scheduler);
      for (let count = 0; count < 30; count += 1) one.sink.recordEvent(FACTS.a);
      expectObservable(running(one, EMPTY), '20s !').toBe('f', { f: 'POST a 25' });
      flush();
      expect(one.heard.length).toBe(30);
      expect(one.metrics.filter((line) => line === 'eventDropped spam').length).toBe(5);
    }),
  );
});

import { map, NEVER, type Observable, of, throwError } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { ContainerStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { ContainerStatus, Pod } from '../../../src/model/pod/pod.js';
import type { PodLogReply, PodLogRequest } from '../../../src/streams/ports/read-pod-log.js';
import { podLogs, type PodLogsOptions } from '../../../src/streams/server/pod-logs.js';
import { aPod } from '../../support/a-pod.js';
import { criLine, MemoryLogs } from '../../support/memory-logs.js';
import { inTurn, marbles } from '../marbles.js';

const PATH = '/logs/main/0.log';
const HOUR = 3_600_000;

const status: ContainerStatus = {
  ...{ name: 'main', image: '', imageID: '', ready: true, restartCount: 0 },
  ...{ state: { running: {} }, containerID: 'rx://id' },
};
const pod: Pod = { ...aPod({ name: 'web' }), status: { containerStatuses: [status] } };

const running = (): Observable<ContainerStatusResponse> =>
  of({ status: { state: 'CONTAINER_RUNNING', logPath: PATH } } as ContainerStatusResponse);

const stage = (scheduler: TestScheduler, over: Partial<PodLogsOptions> = {}) => {
  const logs = new MemoryLogs();
  logs.create(PATH, criLine('a'));
  const read = podLogs({
    pods: () => [pod],
    runtime: { containerStatus: running },
    files: logs.port(),
    splitStreams: false,
    now: () => 0,
    scheduler,
    ...over,
  });
  const reply = (query = '', request: Partial<PodLogRequest> = {}): Observable<string> =>
    read({
      ...{ namespace: 'default', pod: 'web', container: 'main', query: new URLSearchParams(query) },
      ready: () => of(),
      ...request,
    }).pipe(map(textOf));
  return { logs, reply };
};

const textOf = (reply: PodLogReply): string => {
  if (reply.kind === 'refused') return `${reply.status} ${reply.text}`;
  return reply.kind === 'accepted' ? 'accepted' : Buffer.from(reply.bytes).toString();
};

describe('a reply with a log', () => {
  it(
    'is broken off after four hours',
    marbles(({ expectObservable, flush, scheduler }) => {
      const answer$ = inTurn(running(), NEVER);
      // The runtime does not answer whether the container runs.
      const { logs, reply } = stage(scheduler, { runtime: { containerStatus: () => answer$ } });
      const tooLong = new Error('the reply has taken four hours');
      expectObservable(reply('follow=true')).toBe(`(ba) ${4 * HOUR - 4}ms #`, { b: 'accepted', a: 'a\n' }, tooLong);
      flush();
      expect(logs.openCount).toBe(0);
    }),
  );

  it(
    'is refused beyond the limits, until a client has gone',
    marbles(({ expectObservable, scheduler }) => {
      const other: Pod = { ...pod, metadata: { ...pod.metadata, name: 'other', uid: 'uid-2' } };
      const { reply } = stage(scheduler, { pods: () => [pod, other], limits: { inAll: 3, perPod: 2 } });
      const texts = {
        b: 'accepted',
        a: 'a\n',
        p: '429 2 logs of this pod are read already, which is the most',
        n: '429 3 logs of this node are read already, which is the most',
      };
      const follow = (name: string) => reply('follow=true', { pod: name });
      expectObservable(follow('web'), '     ^---------!').toBe('(ba)', texts);
      expectObservable(follow('web'), '     ^---------------!').toBe('(ba)', texts);
      expectObservable(follow('web'), '     -^').toBe('-(p|)', texts);
      expectObservable(follow('other'), '   --^-------------!').toBe('--(ba)', texts);
      expectObservable(follow('other'), '   ---^').toBe('---(n|)', texts);
      expectObservable(follow('other'), '   ------------^---!').toBe('------------(ba)', texts);
    }),
  );

  it(
    'begins before the runtime has answered, and is nothing but that while it does not',
    marbles(({ expectObservable, scheduler }) => {
      const { reply } = stage(scheduler, { runtime: { containerStatus: () => NEVER } });
      expectObservable(reply(), '^---!').toBe('b', { b: 'accepted' });
    }),
  );

  it(
    'ends with the text of a problem that comes after its begin',
    marbles(({ expectObservable, scheduler }) => {
      const gone = new CriError('not-found', 'ContainerStatus', 'no such container');
      const { reply } = stage(scheduler, { runtime: { containerStatus: () => throwError(() => gone) } });
      const text = 'unable to retrieve container logs for rx://id';
      expectObservable(reply()).toBe('(bt|)', { b: 'accepted', t: text });
      const { logs, reply: unread } = stage(scheduler);
      logs.rename(PATH, '/logs/main/other');
      expectObservable(unread()).toBe('(bt|)', { b: 'accepted', t: `there is no log file ${PATH}` });
    }),
  );

  it.each<[string, Partial<PodLogRequest>, string]>([
    ['a query', { query: new URLSearchParams('tailLines=x') }, '400 {"message": "Unable to decode query."}'],
    ['a value', { query: new URLSearchParams('tailLines=-1') }, '422 {"message": "Invalid request."}'],
    ['a pod', { pod: 'wep' }, '404 pod "wep" does not exist'],
    ['a pod of another namespace', { namespace: 'x' }, '404 pod "web" does not exist'],
    ['a container', { container: '..' }, '404 container ".." not found in pod "web"'],
    [
      'an earlier instance',
      { query: new URLSearchParams('previous=true') },
      '400 previous terminated container "main" in pod "web" not found',
    ],
  ])('is refused for the lack of %s', (_, request, text) => {
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(stage(scheduler).reply('', request)).toBe('(t|)', { t: text });
    })();
  });
});

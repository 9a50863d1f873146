import { concat, map, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Mount } from '../../../src/generated/runtime/v1/api.js';
import type { RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import { type TerminationMessages, terminationMessages } from '../../../src/streams/pleg/termination-messages.js';
import { aContainerStatus } from '../../unit/cri-fixtures.js';
import { inTurn, marbles } from '../marbles.js';

const ended = (fields: Partial<ContainerStatus> = {}, policy = 'FallbackToLogsOnError'): ContainerStatus =>
  aContainerStatus('c', {
    ...{ state: 'CONTAINER_EXITED', exitCode: 1, reason: 'Error', logPath: '/log' },
    mounts: [{ hostPath: '/words', containerPath: '/dev/termination-log' } as Mount],
    annotations: {
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': policy,
    },
    ...fields,
  });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const LOG =
  '2026-01-02T03:04:05.6Z stderr F first\n2026-01-02T03:04:05.7Z stdout P la\n2026-01-02T03:04:05.7Z stdout F st\n';

/** Messages from files in memory; a file that is absent is missing. `asked` are the reads, each `path bytes`. */
const messagesFrom = (files: Readonly<Record<string, Observable<Uint8Array | undefined>>>) => {
  const asked: string[] = [];
  const messages = terminationMessages({
    readTail: (path, maxBytes) => {
      asked.push(`${path} ${maxBytes}`);
      return files[path] ?? of(undefined);
    },
  });
  return { messages, asked };
};
const messageOf = (messages: TerminationMessages, status = ended()): Observable<string> =>
  messages.complete(status).pipe(map(({ message }) => message));
const now = (message$: Observable<string>): string[] => {
  const heard: string[] = [];
  message$.subscribe((message) => heard.push(message));
  return heard;
};
const listing = (...ids: readonly string[]): readonly RuntimePod[] => [
  {
    ...{ uid: 'a', namespace: 'default', name: 'a', observedAt: 0 },
    items: ids.map((id) => ({
      kind: 'container',
      id,
      name: id,
      state: 'exited',
      createdAt: 1n,
      sandboxId: 's',
      attempt: 0,
    })),
  },
];

describe('the message of a container', () => {
  it.each<{ case: string; status?: ContainerStatus; files: Parameters<typeof messagesFrom>[0]; is: string }>([
    { case: 'is what it left in its file', files: { '/words': of(bytes('bye')) }, is: 'bye' },
    {
      case: 'follows what the runtime says',
      status: ended({ message: 'killed' }),
      files: { '/words': of(bytes('bye')) },
      is: 'killed: bye',
    },
    {
      case: 'is the end of its log when its file is empty',
      files: { '/words': of(bytes('')), '/log': of(bytes(LOG)) },
      is: 'first\nlast\n',
    },
    { case: 'is the end of its log without a file', files: { '/log': of(bytes(LOG)) }, is: 'first\nlast\n' },
    {
      case: 'is nothing when it said nothing and its log is not wanted',
      status: ended({}, 'File'),
      files: { '/words': of(bytes('')), '/log': of(bytes(LOG)) },
      is: '',
    },
    {
      case: 'says why its file cannot be read, and the log does not stand in',
      files: { '/words': throwError(() => new Error('input/output error')), '/log': of(bytes(LOG)) },
      is: 'Error on reading termination log /words: input/output error',
    },
    {
      case: 'says why its log cannot be read',
      files: { '/log': throwError(() => new Error('input/output error')) },
      is: 'Error on reading termination message from logs: input/output error',
    },
    {
      case: 'says that its log is missing',
      files: {},
      is: 'Error on reading termination message from logs: there is no log /log',
    },
  ])('$case', ({ status, files, is }) => {
    expect(now(messageOf(messagesFrom(files).messages, status))).toEqual([is]);
  });

  it('is read by its end alone', () => {
    const { messages, asked } = messagesFrom({ '/words': of(bytes('')), '/log': of(bytes(LOG)) });
    now(messageOf(messages));
    expect(asked).toEqual(['/words 4096', '/log 65536']);
  });

  it('is that of the runtime while it runs, and nothing is read', () => {
    const { messages, asked } = messagesFrom({ '/words': of(bytes('early')) });
    expect(now(messageOf(messages, ended({ state: 'CONTAINER_RUNNING', message: 'm' })))).toEqual(['m']);
    expect(asked).toEqual([]);
  });
});

describe('reading', () => {
  it(
    'happens once for each container, and can be given up',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow$ = cold('---(b|)', { b: bytes('bye') });
      const { messages } = messagesFrom({ '/words': slow$ });
      expectObservable(messageOf(messages), '-!     ').toBe('--');
      const twice$ = concat(messageOf(messages), messageOf(messages, ended({ message: 'again' })));
      expectObservable(twice$).toBe('---(ab|)', { a: 'bye', b: 'again: bye' });
      expectSubscriptions(slow$.subscriptions).toBe(['^!', '^--!']);
    }),
  );

  it('is tried again after it failed', () => {
    const { messages } = messagesFrom({
      '/words': inTurn(
        throwError(() => new Error('later')),
        of(bytes('bye')),
      ),
    });
    expect(now(messageOf(messages))).toEqual(['Error on reading termination log /words: later']);
    expect(now(messageOf(messages))).toEqual(['bye']);
    expect(now(messageOf(messages))).toEqual(['bye']);
  });

  it('is forgotten with the container', () => {
    const { messages, asked } = messagesFrom({ '/words': of(bytes('bye')) });
    const read = (id: string) => now(messageOf(messages, ended({ id })));
    read('c1');
    read('c2');
    messages.retain(listing('c1', 'c2', 'running'));
    read('c1');
    expect(asked).toHaveLength(2);
    messages.retain(listing('c2'));
    read('c2');
    expect(asked).toHaveLength(2);
    read('c1');
    expect(asked).toHaveLength(3);
  });
});

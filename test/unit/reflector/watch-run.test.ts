import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import {
  foldWatchInput,
  type ReflectorProgress,
  startProgress,
  startWatchRun,
  type WatchInput,
  type WatchRun,
} from '../../../src/model/reflector/watch-run.js';

const line = (type: 'ADDED' | 'MODIFIED' | 'BOOKMARK', resourceVersion: string): WatchInput => ({
  ...{ kind: 'event', type, object: { metadata: { name: 'a', resourceVersion } } },
});
const gone = new ApiError({ code: 410, reason: 'Gone', message: 'too old' });
const inputs: Readonly<Record<string, WatchInput>> = {
  open: { kind: 'opened' },
  new: line('MODIFIED', '6'),
  same: line('MODIFIED', '5'),
  old: line('MODIFIED', '4'),
  bookmark: line('BOOKMARK', '7'),
  bad: { kind: 'event', type: 'ADDED', object: 7 },
  gone: { kind: 'event', type: 'ERROR', object: { code: 410, reason: 'Gone', message: 'too old' } },
  closed: { kind: 'end', how: { kind: 'closed' } },
  silent: { kind: 'end', how: { kind: 'silent' } },
  lost: { kind: 'end', how: { kind: 'failed', error: gone } },
};
const before: ReflectorProgress = { ...startProgress('5'), silentInRow: 1, goneAt: '6' };
const runOf = (names: string, from: ReflectorProgress = before): WatchRun<ApiObject> =>
  names
    .split(' ')
    .reduce<WatchRun<ApiObject>>(
      (run, name) => foldWatchInput(run, inputs[name]!, { now: 2_000 }),
      startWatchRun(from, 500),
    );
const newsOf = ({ news }: WatchRun<ApiObject>): string => {
  if (news?.kind !== 'ended') return news?.kind === 'event' ? news.event.kind : (news?.kind ?? 'nothing');
  const { position, silentInRow, goneAt } = news.progress;
  const at = `${position.resourceVersion}${position.isUnavailable ? ' unavailable' : ''}`;
  return `${news.after.next}: ${at}, silent ${silentInRow}, gone ${goneAt}`;
};

it.each<[names: string, expected: string]>([
  ['open', 'opened'],
  ['open new', 'put'],
  ['open same', 'nothing'],
  ['open bookmark', 'nothing'],
  ['open bad', 'problem'],
  ['open closed', 'again: 5, silent 0, gone 6'],
  ['open new closed', 'again: 6, silent 0, gone 6'],
  ['open bookmark closed', 'again: 7, silent 0, gone 6'],
  ['silent', 'list: 5, silent 2, gone 6'],
  ['open silent', 'list: 5, silent 2, gone 6'],
  ['open new silent', 'again: 6, silent 0, gone 6'],
  ['open old', 'list: 5 unavailable, silent 0, gone 6'],
  ['open gone', 'list: 5, silent 0, gone 5'],
  ['open new gone', 'list: 6 unavailable, silent 0, gone 6'],
  ['lost', 'list: 5, silent 0, gone 5'],
])('a watch from version 5 that receives "%s" has the news "%s"', (names, expected) => {
  expect(newsOf(runOf(names))).toBe(expected);
});

it('a watch that the server ends within a second, with nothing new, leads to a list', () => {
  const short = startWatchRun(before, 1_500);
  const end = (now: number) => newsOf(foldWatchInput<ApiObject>(short, inputs['closed']!, { now }));
  expect([end(2_499), end(2_500)]).toEqual(['list: 5, silent 0, gone 6', 'again: 5, silent 0, gone 6']);
});

it('objects are checked against their type', () => {
  const typed = { now: 0, typeOfObject: 'Secret' };
  const odd: WatchInput = { kind: 'event', type: 'ADDED', object: { metadata: { name: 'a' }, data: 7 } };
  expect(newsOf(foldWatchInput<ApiObject>(startWatchRun(before, 0), odd, typed))).toBe('problem');
});

import { defer, EMPTY, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { pruneInitContainers, removeContainer } from '../../../src/streams/pod-sync/remove-container.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { noFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../../marbles/marbles.js';

const pod = aPod({ spec: { initContainers: [{ name: 'setup', image: 'host' }] } });

const LINK = '/links/web_default_main-id.log';

const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  {
    removeLog,
    removeLink,
  }: { readonly removeLog?: () => Observable<never>; readonly removeLink?: () => Observable<never> } = {},
) => {
  const calls: string[] = [];
  const noting = (what: string, then$: Observable<never>) =>
    defer(() => {
      calls.push(what);
      return then$;
    });
  const stage = syncStage(pod, scheduler, {
    files: {
      ...noFiles,
      removeLog: (path) => noting(`log ${path}`, removeLog?.() ?? EMPTY),
      remove: (path) => noting(`link ${path}`, removeLink?.() ?? EMPTY),
    },
    runtime: {
      removeContainer: ({ containerId }) =>
        defer(() => {
          calls.push(`remove ${containerId}`);
          return of({});
        }),
    },
  });
  return { ...stage, calls };
};

describe('removing a container', () => {
  it.each([
    {
      case: 'takes its logs first, and the link to them',
      logPath: '/l',
      keepLogs: false,
      calls: ['log /l', `link ${LINK}`, 'remove id'],
    },
    { case: 'leaves the logs when they are to be kept', logPath: '/l', keepLogs: true, calls: ['remove id'] },
    {
      case: 'has no logs to take when it never had any',
      logPath: '',
      keepLogs: false,
      calls: [`link ${LINK}`, 'remove id'],
    },
  ])('$case', ({ logPath, keepLogs, calls }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      expectObservable(removeContainer(stage.context, { id: 'id', name: 'main', logPath }, { keepLogs })).toBe('|');
      scheduler.schedule(() => expect(stage.calls).toEqual(calls), 1);
    })();
  });

  const busy = new Error('busy');
  it.each([
    { what: 'its logs', failing: { removeLog: () => throwError(() => busy) }, calls: ['log /l'] },
    {
      what: 'the link to them',
      failing: { removeLink: () => throwError(() => busy) },
      calls: ['log /l', `link ${LINK}`],
    },
  ])(
    'leaves it where it is when $what cannot be removed, so that no file is left without its container',
    ({ failing, calls }) => {
      marbles(({ expectObservable, scheduler }) => {
        const stage = stageOf(scheduler, failing);
        const removing$ = removeContainer(
          stage.context,
          { id: 'id', name: 'main', logPath: '/l' },
          { keepLogs: false },
        );
        expectObservable(removing$).toBe('#', undefined, busy);
        scheduler.schedule(() => expect(stage.calls).toEqual(calls), 1);
      })();
    },
  );
});

describe('pruning', () => {
  const instance = (id: string, rest: Partial<RuntimeContainerStatus>) =>
    aContainer({ name: 'setup', id, state: 'exited', ...rest });
  const status = aRuntimeStatus([
    instance('running', { state: 'running' }),
    instance('newest', {}),
    aContainer({ name: 'main', id: 'regular', state: 'exited' }),
    instance('lost', { state: 'unknown' }),
    instance('oldest', {}),
  ]);

  it.each([
    { which: 'all' as const, calls: ['running', 'newest', 'lost', 'oldest'] },
    { which: 'all-but-newest' as const, calls: ['lost', 'oldest'] },
  ])('removes $which ended instances of init containers, one after the other', ({ which, calls }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      expectObservable(pruneInitContainers(stage.context, status, which)).toBe('|');
      scheduler.schedule(() => {
        const removals = stage.calls.filter((call) => call.startsWith('remove'));
        expect(removals).toEqual(calls.map((id) => `remove ${id}`));
      }, 1);
    })();
  });
});

import { defer, EMPTY, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RuntimeContainerStatus } from '../../../src/model/runtime-pod.js';
import { pruneInitContainers, removeContainer } from '../../../src/streams/pod-sync/remove-container.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { noFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const pod = aPod({ spec: { initContainers: [{ name: 'setup', image: 'host' }] } });

const stageOf = (scheduler: Parameters<typeof syncStage>[1], removeLog?: () => Observable<never>) => {
  const calls: string[] = [];
  const noting = (what: string, then$: Observable<never>) =>
    defer(() => {
      calls.push(what);
      return then$;
    });
  const stage = syncStage(pod, scheduler, {
    files: { ...noFiles, removeLog: (path) => noting(`log ${path}`, removeLog?.() ?? EMPTY) },
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
    { case: 'takes its logs first', logPath: '/l', keepLogs: false, calls: ['log /l', 'remove id'] },
    { case: 'leaves the logs when they are to be kept', logPath: '/l', keepLogs: true, calls: ['remove id'] },
    { case: 'has no logs to take when it never had any', logPath: '', keepLogs: false, calls: ['remove id'] },
  ])('$case', ({ logPath, keepLogs, calls }) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      expectObservable(removeContainer(stage.context, { id: 'id', name: 'main', logPath }, { keepLogs })).toBe('|');
      scheduler.schedule(() => expect(stage.calls).toEqual(calls), 1);
    })();
  });

  it(
    'leaves it where it is when its logs cannot be removed, so that nothing is left that nobody knows of',
    marbles(({ expectObservable, scheduler }) => {
      const busy = new Error('busy');
      const stage = stageOf(scheduler, () => throwError(() => busy));
      const removing$ = removeContainer(stage.context, { id: 'id', name: 'main', logPath: '/l' }, { keepLogs: false });
      expectObservable(removing$).toBe('#', undefined, busy);
      scheduler.schedule(() => expect(stage.calls).toEqual(['log /l']), 1);
    }),
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
      scheduler.schedule(() => expect(stage.calls).toEqual(calls.map((id) => `remove ${id}`)), 1);
    })();
  });
});

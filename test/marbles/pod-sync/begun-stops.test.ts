import { concat, EMPTY, ignoreElements, map, NEVER, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { NodeFiles } from '../../../src/streams/ports/node-files.js';
import { isStopBegun, markStop } from '../../../src/streams/pod-sync/begun-stops.js';
import { type ContainerKill, killContainer } from '../../../src/streams/pod-sync/kill-container.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const MARKS = `${nodeFacts.rootDirectory}/pods/uid-1/stops`;
const BROKEN = () => throwError(() => new Error('the disk is broken'));

const stageOf = (scheduler: Parameters<typeof syncStage>[1], files: Partial<NodeFiles> = {}) => {
  const calls: string[] = [];
  const stage = syncStage(aPod(), scheduler, {
    files: {
      ...noFiles,
      makeDirectory: (path) => {
        calls.push(`make ${path}`);
        return EMPTY;
      },
      remove: (path) => {
        calls.push(`remove ${path}`);
        return EMPTY;
      },
      ...files,
    },
    runtime: {
      stopContainer: () => {
        calls.push('stop');
        return of({});
      },
    },
  });
  return { ...stage, calls };
};

describe('the mark of a stop', () => {
  it(
    'a stop waits for its mark, so that no end of it is without one',
    marbles(({ expectObservable, scheduler, time }) => {
      const written = time('---|');
      const expected = '    ---(s|)';
      const stage = stageOf(scheduler, { makeDirectory: () => timer(written, scheduler).pipe(ignoreElements()) });
      const stopped$ = killContainer(stage.context, { id: 'a', name: 'main' });
      expectObservable(concat(stopped$, of('s'))).toBe(expected);
    }),
  );

  it(
    'a stop waits 1 s at most for its mark, where a disk hangs',
    marbles(({ expectObservable, scheduler }) => {
      const expected = '1s (s|)';
      const stage = stageOf(scheduler, { makeDirectory: () => NEVER });
      const stopped$ = killContainer(stage.context, { id: 'a', name: 'main' });
      expectObservable(concat(stopped$, of('s'))).toBe(expected);
      scheduler.schedule(() => expect(stage.calls).toEqual(['stop']), 1_001);
    }),
  );

  it.each<[row: string, kill: Partial<ContainerKill>, calls: readonly string[]]>([
    ['a stop of the pod is marked', {}, [`make ${MARKS}/a`, 'stop']],
    ['a stop for another spec is marked', { reason: 'DefinitionChanged' }, [`make ${MARKS}/a`, 'stop']],
    ['a stop of a replaced instance is marked', { reason: 'Superseded' }, [`make ${MARKS}/a`, 'stop']],
    ['a stop after a failed liveness probe has no mark', { reason: 'LivenessProbe' }, ['stop']],
    ['a stop after a failed startup probe has no mark', { reason: 'StartupProbe' }, ['stop']],
    ['a stop after a failed postStart hook has no mark', { hasFailed: true }, ['stop']],
  ])('%s', (_, kill, calls) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      expectObservable(killContainer(stage.context, { id: 'a', name: 'main', ...kill })).toBe('|');
      scheduler.schedule(() => expect(stage.calls).toEqual(calls), 1);
    })();
  });

  it(
    'a broken disk does not keep a container from being stopped',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { makeDirectory: BROKEN });
      expectObservable(markStop(stage.context, 'a')).toBe('|');
    }),
  );

  it.each([
    ['an instance with a mark was stopped', 'a', ['a', 'b'], true],
    ['an instance without a mark was not stopped', 'a', ['b'], false],
    ['an id that leads out of the directory stays inside', '../a', ['%2E%2E%2Fa'], true],
  ])('%s', (_, id, marks, isBegun) => {
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { listDirectory: (path) => of(path === MARKS ? marks : []) });
      const status = aRuntimeStatus([aContainer({ id, name: 'main' }), aContainer({ id: 'b', name: 'main' })]);
      expectObservable(isStopBegun(stage.context, status, id)).toBe('(b|)', { b: isBegun });
      scheduler.schedule(() => expect(stage.calls).toEqual([]), 1);
    })();
  });

  it(
    'a mark goes with its container',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { listDirectory: () => of(['a', 'gone']) });
      const status = aRuntimeStatus([aContainer({ id: 'a', name: 'main' })]);
      const removed$ = isStopBegun(stage.context, status, 'a').pipe(map(() => stage.calls.join()));
      expectObservable(removed$).toBe('(r|)', { r: `remove ${MARKS}/gone` });
    }),
  );

  it(
    'an instance was not stopped where nothing can be read',
    marbles(({ expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { listDirectory: BROKEN });
      expectObservable(isStopBegun(stage.context, aRuntimeStatus([]), 'a')).toBe('(b|)', { b: false });
    }),
  );
});

import { concat, EMPTY, of, throwError, timer, ignoreElements } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { NodeFacts } from '../../../src/model/node/node-facts.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import type { NodeFiles } from '../../../src/streams/ports/node-files.js';
import { markStart, seeLostStarts, unmarkStart } from '../../../src/streams/pod-sync/begun-starts.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const MARKS = `${nodeFacts.rootDirectory}/pods/uid-1/begun-starts`;

interface Scene {
  readonly restartPolicy?: PodSpec['restartPolicy'];
  readonly node?: Partial<NodeFacts>;
  readonly files?: Partial<NodeFiles>;
  /** The boots that have marked the start of a container. */
  readonly marks?: Readonly<Record<string, readonly string[]>>;
}

const stageOf = (scheduler: Parameters<typeof syncStage>[1], scene: Scene) => {
  const { restartPolicy = 'Never', node, files = {}, marks = {} } = scene;
  const calls: string[] = [];
  const pod = aPod({ spec: { restartPolicy, containers: [{ name: 'main', image: 'host' }] } });
  const stage = syncStage(pod, scheduler, {
    node: { ...nodeFacts, bootId: 'boot-2', ...node },
    files: {
      ...noFiles,
      keepDirectory: (path, mode, root) => {
        calls.push(`keep ${path} ${mode.toString(8)} below ${root}`);
        return EMPTY;
      },
      listDirectory: (path) => {
        calls.push(`list ${path}`);
        return of(marks[path.slice(MARKS.length + 1)] ?? []);
      },
      remove: (path) => {
        calls.push(`remove ${path}`);
        return EMPTY;
      },
      ...files,
    },
  });
  return { ...stage, calls };
};

describe('the mark of a start', () => {
  it(
    'names the container and the boot, and is on the disk before the start',
    marbles(({ expectObservable, scheduler, time }) => {
      const written = time('---|');
      const expected = '    ---(s|)';
      const stage = stageOf(scheduler, {
        files: { keepDirectory: () => timer(written, scheduler).pipe(ignoreElements()) },
      });
      expectObservable(concat(markStart(stage.context, 'a'), of('s'))).toBe(expected);
    }),
  );

  it.each<[string, Scene, readonly string[]]>([
    ['a pod under Never', {}, [`keep ${MARKS}/a/boot-2 750 below /root-dir`]],
    ['one under OnFailure', { restartPolicy: 'OnFailure' }, []],
    ['one under Always', { restartPolicy: 'Always' }, []],
    ['a runtime that keeps starts', { node: { keepsStarts: true } }, []],
    ['a machine without a boot id', { node: { bootId: '' } }, []],
  ])('is there for %s', (_, scene, expected) =>
    marbles(({ flush, scheduler }) => {
      const stage = stageOf(scheduler, scene);
      markStart(stage.context, 'a').subscribe();
      flush();
      expect(stage.calls).toEqual(expected);
    })(),
  );

  it(
    'prevents the start if it cannot be written',
    marbles(({ expectObservable, scheduler }) => {
      const full = new Error('ENOSPC');
      const stage = stageOf(scheduler, { files: { keepDirectory: () => throwError(() => full) } });
      expectObservable(markStart(stage.context, 'a')).toBe('#', undefined, full);
    }),
  );

  it(
    'goes with its container, under any name; a failure is logged',
    marbles(({ expectObservable, scheduler, flush }) => {
      const stage = stageOf(scheduler, {});
      expectObservable(unmarkStart(stage.context, '../x')).toBe('|');
      const broken = stageOf(scheduler, { files: { remove: () => throwError(() => new Error('EIO')) } });
      expectObservable(unmarkStart(broken.context, 'a')).toBe('|');
      flush();
      expect(stage.calls).toEqual([`remove ${MARKS}/%2E%2E%2Fx`]);
      expect(broken.logged).toEqual(['cannot remove the mark of a start']);
    }),
  );
});

describe('the view of a pod', () => {
  const created = aRuntimeStatus([aContainer({ id: 'a', name: 'main', state: 'created' })]);
  const seen = (stage: ReturnType<typeof stageOf>, status = created) => {
    const states: unknown[] = [];
    seeLostStarts(stage.context, status).subscribe({
      next: ({ containers }) => states.push(...containers.map(({ state, exitCode }) => [state, exitCode])),
      error: (error: unknown) => states.push(String(error)),
    });
    return states;
  };

  it.each<[string, Scene, readonly unknown[]]>([
    ['a former boot has marked', { marks: { a: ['boot-1'] } }, ['exited', 137]],
    ['this boot has marked: it was not started', { marks: { a: ['boot-2'] } }, ['created', 0]],
    ['nothing has marked', {}, ['created', 0]],
    ['is under OnFailure', { restartPolicy: 'OnFailure', marks: { a: ['boot-1'] } }, ['created', 0]],
  ])('has an end for a created container that %s', (_, scene, expected) =>
    marbles(({ scheduler }) => {
      expect(seen(stageOf(scheduler, scene))).toEqual([expected]);
    })(),
  );

  it(
    'costs no look at the disk while no container is created',
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { marks: { a: ['boot-1'] } });
      expect(seen(stage, aRuntimeStatus([aContainer({ id: 'a', name: 'main' })]))).toEqual([['running', 0]]);
      expect(stage.calls).toEqual([]);
    }),
  );

  it(
    'is not given without the marks',
    marbles(({ scheduler }) => {
      const stage = stageOf(scheduler, { files: { listDirectory: () => throwError(() => new Error('EIO')) } });
      expect(seen(stage)).toEqual(['Error: EIO']);
    }),
  );
});

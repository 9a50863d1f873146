import { concat, EMPTY, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ExecSyncResponse } from '../../../src/generated/runtime/v1/api.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { Container } from '../../../src/model/pod/pod.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { beginHook, endHook, findDueHooks } from '../../../src/streams/pod-sync/due-hooks.js';
import { syncContainers } from '../../../src/streams/pod-sync/sync-containers.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noFiles, syncStage } from '../../support/sync-context.js';
import { marbles } from '../../marbles/marbles.js';
import { away } from '../../marbles/pod-sync/start-stage.js';

const main: Container = {
  name: 'main',
  image: 'host',
  lifecycle: { postStart: { exec: { command: ['warm-up'] } } },
};
const DIRECTORY = `${nodeFacts.rootDirectory}/pods/uid-1/due-hooks`;

interface Scene {
  /** The names in the directory of marks. */
  readonly marks?: readonly string[];
  readonly containers?: readonly Container[];
  readonly instances?: readonly RuntimeContainerStatus[];
  readonly files?: Partial<typeof noFiles>;
  readonly runtime?: Partial<RuntimeService>;
}

/** A pod of an agent that has just started, with a disk of marks. */
const stageOf = (scheduler: Parameters<typeof syncStage>[1], scene: Scene) => {
  const { marks: left = [], containers = [main], files = {}, runtime = {} } = scene;
  const marks = new Set(left.map((name) => `${DIRECTORY}/${name}`));
  const calls: string[] = [];
  const stage = syncStage(aPod({ spec: { containers: [...containers] } }), scheduler, {
    files: {
      ...noFiles,
      makeDirectory: (path) => {
        marks.add(path);
        return EMPTY;
      },
      listDirectory: () => of([...marks].map((path) => path.slice(DIRECTORY.length + 1))),
      remove: (path) => {
        marks.delete(path);
        return EMPTY;
      },
      ...files,
    },
    runtime: {
      execSync: ({ containerId, cmd }) => {
        calls.push(`${cmd?.join(' ')} in ${containerId}`);
        return of({ exitCode: 0, stdout: Buffer.of(), stderr: Buffer.of() });
      },
      stopContainer: ({ containerId }) => {
        calls.push(`stop ${containerId}`);
        return of({});
      },
      ...runtime,
    },
  });
  const state = kubeletState();
  const status = aRuntimeStatus(scene.instances ?? []);
  const find$ = findDueHooks(stage.context, status, state);
  const ports = { node: nodeFacts, state, maxRestartBackOffMs: 300_000 };
  const sync$ = concat(find$, syncContainers(stage.context, status, ports));
  const due = () => state.dueHooks.of('uid-1');
  return { ...stage, state, marks, calls, find$, sync$, due };
};

const running = (id: string, rest: Partial<RuntimeContainerStatus> = {}) => aContainer({ name: 'main', id, ...rest });

/** The hook's command ends with the code. */
const ends = (exitCode: number): Pick<RuntimeService, 'execSync'> => ({
  execSync: () => of<ExecSyncResponse>({ exitCode, stdout: Buffer.of(), stderr: Buffer.from('cold') }),
});

describe('the marks of postStart hooks', () => {
  it(
    'are those of running containers; others are removed',
    marbles(({ flush, scheduler }) => {
      const instances = [running('a'), running('b', { state: 'exited' })];
      const stage = stageOf(scheduler, { marks: ['a', 'b', 'c'], instances });
      expect(stage.state.dueHooks.isKnown('uid-1')).toBe(false);
      stage.find$.subscribe();
      flush();
      expect(stage.due()).toEqual(['a']);
      expect([...stage.marks]).toEqual([`${DIRECTORY}/a`]);
      expect(stage.state.dueHooks.isKnown('uid-1')).toBe(true);
    }),
  );

  it(
    'are read again if they could not be read, which is logged',
    marbles(({ flush, scheduler }) => {
      let reads = 0;
      const stage = stageOf(scheduler, {
        instances: [running('a')],
        files: {
          listDirectory: () => {
            reads += 1;
            return reads === 1 ? throwError(() => new Error('EIO')) : of(['a']);
          },
        },
      });
      for (let time = 0; time < 3; time += 1) stage.find$.subscribe();
      flush();
      expect(reads).toBe(2);
      expect(stage.due()).toEqual(['a']);
      expect(stage.logged).toEqual(['cannot read the marks of postStart hooks']);
    }),
  );

  it(
    'are not read for a pod without such hooks, and none are looked for before anything runs',
    marbles(({ flush, scheduler }) => {
      const listDirectory = () => throwError(() => new Error('was read'));
      const plain: Container = { name: 'main', image: 'host' };
      for (const scene of [{ containers: [plain], instances: [running('a')] }, { instances: [] }]) {
        const stage = stageOf(scheduler, { ...scene, files: { listDirectory } });
        stage.find$.subscribe();
        flush();
        expect(stage.logged).toEqual([]);
      }
    }),
  );

  it(
    'stay in their directory, with any ID of a container',
    marbles(({ flush, scheduler }) => {
      const stage = stageOf(scheduler, {});
      for (const id of ['../../x', '..', 'a/b']) beginHook(stage.context, id, stage.state).subscribe();
      flush();
      expect([...stage.marks].map((path) => path.slice(DIRECTORY.length))).toEqual([
        '/%2E%2E%2F%2E%2E%2Fx',
        '/%2E%2E',
        '/a%2Fb',
      ]);
      for (const id of ['../../x', '..', 'a/b']) endHook(stage.context, id, stage.state).subscribe();
      flush();
      expect(stage.marks.size).toBe(0);
    }),
  );

  it(
    'are dropped with containers that have ended',
    marbles(({ flush, scheduler }) => {
      const stage = stageOf(scheduler, { instances: [running('b', { state: 'exited' })] });
      stage.find$.subscribe();
      for (const id of ['a', 'b']) beginHook(stage.context, id, stage.state).subscribe();
      stage.find$.subscribe();
      flush();
      expect(stage.due()).toEqual([]);
      expect(stage.marks.size).toBe(0);
    }),
  );
});

describe('a container whose postStart hook is due', () => {
  const scene: Scene = { marks: ['a'], instances: [running('a')] };

  it(
    'has it run again',
    marbles(({ flush, scheduler }) => {
      const stage = stageOf(scheduler, scene);
      const syncs: unknown[] = [];
      stage.sync$.subscribe((sync) => syncs.push(sync));
      flush();
      expect(syncs).toEqual([{ starts: [], acted: true, endedHooks: true, hasReset: false }]);
      expect(stage.calls).toEqual(['warm-up in a']);
      expect(stage.events).toEqual(['RepeatedPostStartHook The postStart hook has not ended before, and runs again']);
      expect(stage.due()).toEqual([]);
      expect(stage.marks.size).toBe(0);
    }),
  );

  it(
    'ends if the hook fails, and is not ready until its end is seen',
    marbles(({ flush, scheduler }) => {
      const stage = stageOf(scheduler, { ...scene, runtime: ends(1) });
      const problems: unknown[] = [];
      stage.sync$.subscribe(({ starts }) => problems.push(starts.map(({ problem }) => problem?.reason)));
      flush();
      expect(problems).toEqual([['PostStartHookError']]);
      expect(stage.calls).toEqual(['stop a']);
      expect(stage.due()).toEqual(['a']);
      findDueHooks(stage.context, aRuntimeStatus([running('a', { state: 'exited' })]), stage.state).subscribe();
      flush();
      expect(stage.due()).toEqual([]);
      expect(stage.marks.size).toBe(0);
    }),
  );

  it(
    'keeps it if the hook fails and the container cannot be stopped',
    marbles(({ flush, scheduler }) => {
      const runtime = { ...ends(1), stopContainer: () => throwError(() => away) };
      const stage = stageOf(scheduler, { ...scene, runtime });
      stage.sync$.subscribe();
      flush();
      expect(stage.due()).toEqual(['a']);
      expect(stage.marks.size).toBe(1);
    }),
  );

  it(
    'is left to its end if its spec has changed',
    marbles(({ flush, scheduler }) => {
      const stage = stageOf(scheduler, { marks: ['a'], instances: [running('a', { hash: 'other' })] });
      stage.sync$.subscribe({ error: () => undefined });
      flush();
      expect(stage.calls).toContain('stop a');
      expect(stage.calls).not.toContain('warm-up in a');
    }),
  );
});

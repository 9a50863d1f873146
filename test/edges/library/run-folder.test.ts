import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom, Subject, tap } from 'rxjs';
import type { StopRequest, WorkerOutcome } from 'rx-kubelet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runFolder } from '../../../examples/library/run-folder.js';
import { eventually, RuntimeUnderTest } from '../embedded/runtime-under-test.js';

describe('examples/library/run-folder', () => {
  let runtime: RuntimeUnderTest;

  beforeEach(async () => {
    runtime = await new RuntimeUnderTest().start();
  });

  afterEach(() => runtime.dispose());

  const directories = () => ({
    podLogsDirectory: runtime.logDirectory,
    rootDirectory: join(runtime.directory, 'agent'),
  });

  it('runs the pods of a folder over a runtime, and stops them when asked', async () => {
    const folder = join(runtime.directory, 'manifests');
    const mark = join(runtime.directory, 'started');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'pod.yaml'),
      `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: main, image: host, command: [sh, -c, 'touch ${mark}; exec sleep 1000'] }]
`,
    );
    const stop$ = new Subject<StopRequest>();
    const outcomes: WorkerOutcome[] = [];
    const options = { endpoint: `unix://${runtime.socketPath}`, ...directories() };
    const ended = lastValueFrom(runFolder(folder, options, stop$).pipe(tap((outcome) => outcomes.push(outcome))));
    await eventually('the container runs', () => existsSync(mark));
    stop$.next({ reason: 'the test is over' });
    await ended;
    expect(outcomes.some(({ work, error }) => work === 'terminating' && error === undefined)).toBe(true);
    const { containers } = await runtime.runtime.listContainers({});
    expect(containers.filter(({ state }) => state !== 'CONTAINER_EXITED')).toEqual([]);
  });

  it('waits for a runtime that is not there, and says so', async () => {
    const warnings: string[] = [];
    const ignore = (): void => undefined;
    const log = { debug: ignore, info: ignore, error: ignore, warn: (_: object, text: string) => warnings.push(text) };
    const options = { endpoint: `unix://${runtime.directory}/no.sock`, ...directories(), log };
    const subscription = runFolder(runtime.directory, options).subscribe();
    await eventually('it has said so twice', () => warnings.length > 1);
    subscription.unsubscribe();
    expect(new Set(warnings)).toEqual(new Set(['waiting for the runtime']));
  });
});

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, Subject } from 'rxjs';
import type { StopRequest } from 'rx-kubelet';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runEmbedded } from '../../../examples/library/run-embedded.js';
import { processesNaming } from '../../embedded/processes.js';
import { sendSignal } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../embedded/runtime-under-test.js';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'run-embedded-'))));
afterEach(async () => {
  await eventually('nothing of the test runs', () => {
    const left = processesNaming([folder]);
    for (const { pid } of left) sendSignal(pid, 'SIGKILL');
    return left.length === 0;
  });
  rmSync(folder, { recursive: true, force: true });
});

it('an agent of the library runs the pods of a folder over the embedded runtime of the package', async () => {
  const manifests = join(folder, 'manifests');
  const mark = join(folder, 'started');
  mkdirSync(manifests);
  const command = `[sh, -c, 'touch ${mark}; exec sleep 1000']`;
  writeFileSync(
    join(manifests, 'pod.yaml'),
    `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: main, image: 'busybox:1', command: ${command} }]
`,
  );
  const stop$ = new Subject<StopRequest>();
  const ended = lastValueFrom(runEmbedded(manifests, join(folder, 'agent'), stop$));
  await eventually('the container runs', () => existsSync(mark));
  stop$.next({ reason: 'the test is over' });
  expect(await ended).toMatchObject({ work: expect.stringMatching(/^terminat/) as string });
});

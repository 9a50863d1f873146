import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { BUNDLE } from '../../embedded/daemon.js';
import { readJournal } from '../../../src/journal/journal-reader.js';
import { eventually } from '../../embedded/eventually.js';
import { endRuntime } from '../embedded/end-runtime.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'once-'));
});
afterEach(async () => {
  await endRuntime(join(folder, 'root', 'runtime', 'state'));
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

const run = async (...args: string[]) => {
  const child = spawn(process.execPath, [BUNDLE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
};

it('starts the embedded runtime, brings the pods up, explains them afterwards', async () => {
  mkdirSync(join(folder, 'pods'));
  writeFileSync(
    join(folder, 'pods', 'job.yaml'),
    `apiVersion: v1
kind: ConfigMap
metadata: {name: job}
data: {DURATION: '2147483'}
---
apiVersion: v1
kind: Pod
metadata: {name: job}
spec:
  hostNetwork: true
  restartPolicy: Never
  containers: [{name: main, image: host, command: [sleep, $(DURATION)], envFrom: [{configMapRef: {name: job}}]}]
`,
  );
  const options = ['--root-dir', join(folder, 'root'), '--hostname-override', 'node'];
  const { code, stderr } = await run(
    ...options,
    '--pod-manifest-path',
    join(folder, 'pods'),
    '--runonce',
    '--healthz-port=0',
  );
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly message: string; readonly pid?: number });
  const runtimePid = lines.find(({ message }) => message === 'the embedded runtime is ready')?.pid;
  expect(lines.map(({ message }) => message)).toContain('the pod runs');
  expect(code).toBe(0);
  expect(runtimePid).toBeGreaterThan(0);

  const { stdout } = await run('why', '--root-dir', join(folder, 'root'), 'job-node/main');
  expect(stdout).toMatch(/^job-node_default /);
  expect(stdout).toMatch(/ {2}main runs for \d+ s/);
  expect(stdout).toContain('next: nothing until the agent runs again');

  // The next agent finds what runs, and stops it on a signal.
  const agent = spawn(
    process.execPath,
    [BUNDLE, ...options, '--pod-manifest-path', join(folder, 'pods'), '--stop-pods-on-exit', '--healthz-port=0'],
    { stdio: 'ignore' },
  );
  onTestFinished(() => void agent.kill('SIGKILL'));
  const ended = once(agent, 'exit') as Promise<[number | null]>;
  await eventually('the second agent has looked at the pod', () => {
    const { entries } = readJournal(join(folder, 'root', 'journal'));
    const starts = entries.flatMap(({ kind }, index) => (kind === 'agent-started' ? [index] : []));
    return starts.length === 2 && entries.slice(starts[1]).some(({ kind }) => kind === 'sync-ended');
  });
  agent.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const after = await run('why', '--root-dir', join(folder, 'root'), 'job-node');
  expect(after.stdout).toMatch(/^job-node_default (has been stopped|is Failed)/);
});

it.runIf(process.getuid?.() === 0)('mounts recursively read-only, as the runtime supports it', async () => {
  mkdirSync(join(folder, 'pods'));
  writeFileSync(
    join(folder, 'pods', 'reader.yaml'),
    `apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  hostNetwork: true
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: main
    image: host
    command: [sleep, '2147483']
    volumeMounts: [{name: data, mountPath: /rx, readOnly: true, recursiveReadOnly: Enabled}]
`,
  );
  const { code, stderr } = await run(
    ...['--root-dir', join(folder, 'root'), '--hostname-override', 'node', '--healthz-port=0'],
    ...['--pod-manifest-path', join(folder, 'pods'), '--runonce'],
  );
  expect(stderr).toContain('"message":"the pod runs"');
  expect(code).toBe(0);
});

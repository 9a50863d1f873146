import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { BUNDLE, type Daemon, it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

const runs = (daemon: Daemon, name: string) =>
  eventually('the pod runs', async () =>
    (await daemon.shownPods()).some(
      ({ metadata, status }) => metadata.name.startsWith(name) && status?.phase === 'Running',
    ),
  );

describe.concurrent('a pod without a cluster', () => {
  it('has its output followed from now on by attach, until its container ends', async ({ daemon }) => {
    const script = 'while [ ! -e "$DIR/end" ]; do echo tick; echo tock >&2; sleep 0.1; done; echo last; exit 3';
    daemon.apply({ name: 'web', containers: [{ script }], restartPolicy: 'Never' });
    await daemon.start();
    await runs(daemon, 'web');
    const child = spawn(process.execPath, [BUNDLE, 'attach', '--root-dir', daemon.rootDir, 'web/main', '-t'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    daemon.beforeDispose(async () => child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    let [output, problems] = ['', ''];
    child.stdout.on('data', (part: Buffer) => (output += part.toString()));
    child.stderr.on('data', (part: Buffer) => (problems += part.toString()));
    await eventually('both outputs are attached', () => output.includes('tick\n') && problems.includes('tock\n'));
    writeFileSync(join(daemon.directory, 'end'), '');
    expect(await exit).toEqual([0, null]);
    expect(output).toMatch(/^(tick\n)+last\n$/);
    expect(problems).toMatch(/^Unable to use a TTY - container main did not allocate one\n(tock\n)+$/);
    await eventually('the pod has ended', async () => (await daemon.shownPods())[0]?.status?.phase === 'Failed');
    expect(await daemon.run('attach', '--root-dir', daemon.rootDir, 'web')).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'Error: cannot attach a container in a completed pod; current phase is Failed\n',
    });
  });

  it('has its use of CPU and memory printed by top', async ({ daemon }) => {
    daemon.apply({
      name: 'busy',
      containers: [
        { name: 'main', script: 'while :; do :; done' },
        { name: 'idle', script: SLEEP },
      ],
    });
    await daemon.start();
    await runs(daemon, 'busy');
    const top = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await daemon.run('top', ...args, '--root-dir', daemon.rootDir);
      expect([code, stderr]).toEqual([0, '']);
      return stdout.split('\n').map((line) => line.split(/ {2,}/));
    };
    const [headings, node] = await top('node');
    expect(headings).toEqual(['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)']);
    expect(node?.join(' ')).toMatch(/^node1 [1-9]\d*m \d+% [1-9]\d*Mi \d+%$/);
    await eventually('both containers have figures', async () => {
      const lines = await top('pods', 'busy', '--containers', '--sort-by', 'cpu');
      expect(lines[0]).toEqual(['NAMESPACE', 'POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)']);
      expect(lines[1]?.join(' ')).toMatch(/^default busy-node1 main [1-9]\d*m \d+Mi$/);
      expect(lines[2]?.join(' ')).toMatch(/^default busy-node1 idle \dm \d+Mi$/);
      return true;
    });
    const [ofOne, ...lines] = await top('pod', 'busy/idle');
    expect(ofOne).toEqual(['NAMESPACE', 'POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)']);
    expect(lines.map((line) => line.slice(0, 3).join(' '))).toEqual(['default busy-node1 idle', '']);
    expect(await daemon.run('top', 'pod', 'busy/other', '--root-dir', daemon.rootDir)).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'Error: container other not found in pod busy-node1\n',
    });
    expect(await daemon.run('top', 'x', '--root-dir', daemon.rootDir)).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'Error: "x" is unknown: expected top node or top pod\n',
    });
  });

  it('is described with its states, its events and the reason of the agent while it crashes', async ({ daemon }) => {
    daemon.apply({
      name: 'crash',
      labels: { tier: 'back' },
      containers: [{ script: 'exit 3', ports: [{ name: 'http', containerPort: 8080 }] }],
      initContainers: [{ name: 'init', script: 'exit 0' }],
    });
    await daemon.start();
    const describe = (...args: readonly string[]) =>
      daemon.run('describe', ...args, '-n', 'default', '--root-dir', daemon.rootDir);
    const lines = await eventually('it waits after a crash', async () => {
      const { code, stdout, stderr } = await describe('crash');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^ {4}State: +Waiting\n {6}Reason: +CrashLoopBackOff$/m);
      return stdout;
    });
    expect(lines).toMatch(/^Name: +crash-node1$/m);
    expect(lines).toMatch(/^Labels: +tier=back$/m);
    expect(lines).toMatch(/^Status: +Running$/m);
    expect(lines).toMatch(/^Init Containers:\n {2}init:\n/m);
    expect(lines).toMatch(/^ {4}Ports: +8080\/TCP \(http\)$/m);
    expect(lines).toMatch(/^ {4}Last State: +Terminated\n {6}Reason: +Error\n {6}Exit Code: +3$/m);
    expect(lines).toMatch(/^ {4}Environment: +RX_TEST_CONTAINER: .*\n( +.*\n)* +POD_UID: +\(v1:metadata\.uid\)$/m);
    expect(lines).toMatch(/^ {2}Ready +False +ContainersNotReady$/m);
    expect(lines).toMatch(/^ {2}Warning +BackOff +\d+s .*restarting failed container/m);
    expect(lines).toMatch(
      /^Why:\n {2}crash-node1_default is Running for .*\n( .*\n)* .*ended with exit code 3 .*CrashLoopBackOff/m,
    );
    expect((await describe('crash-node1')).stdout).toContain('CrashLoopBackOff');
    const one = await describe('pod/crash/init');
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(one.stdout).toMatch(/^Init Containers:\n {2}init:\n( {4}.*\n)+Conditions:$/m);
    expect(one.stdout).not.toMatch(/^ {2}main[: ]/m);
    expect((await describe('crash/other')).stderr).toBe('Error: container other not found in pod crash-node1\n');
    expect(await describe('other')).toEqual({
      ...{ code: 1, stdout: '' },
      stderr: 'Error: pods "other" not found in namespace "default"; pods here: crash-node1_default\n',
    });
  });
});

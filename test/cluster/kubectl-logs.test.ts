import { join } from 'node:path';
import { expect } from 'vitest';
import { WAIT } from '../containerd/containerd-node.js';
import { freeHostPort } from '../containerd/host-port.js';
import { eventually } from '../embedded/eventually.js';
import { linesWritten, rotatedNames, writeLines } from '../embedded/rotated-logs.js';
import type { ClusterNode } from './cluster-node.js';
import { kubectl, startKubectl } from './kubectl.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const NAME = 'read-by-kubectl';
const port = await freeHostPort();
const it = onNode(NAME, (node) => {
  node.fields = { containerLogMaxSize: '20Ki', containerLogMaxFiles: 50, containerLogMonitorInterval: '3s' };
  return ['--port', String(port), '--client-ca-file', join(node.cluster.folder, 'pki', 'ca.crt')];
});

const LINES = 2_000;
/** Prints its number, and another line after a file has appeared in its container; then it fails. */
const IN_TURNS =
  'echo >> /runs/count; run=$(wc -l < /runs/count); echo "run $run"; ' +
  'while [ ! -e /end ]; do sleep 0.1; done; echo "end $run"; exit 1';

const printed = (stdout: string) => ({ code: 0, stdout, stderr: '' });
const failed = (stderr: string) => ({ code: 1, stdout: '', stderr: `${stderr}\n` });

const printedBy = async (node: ClusterNode, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await kubectl(node, args);
  return { code, stdout: stdout.toString(), stderr };
};

/** The node serves its logs only after it has made its key. */
const served = (node: ClusterNode): Promise<unknown> =>
  eventually('the kubelet API is served', () => node.log.includes('the kubelet API is served'));

overCluster('kubectl logs', () => {
  it('prints the log of each kind of container, by every flag', async ({ node }) => {
    await node.create({
      name: 'flags',
      initContainers: [{ name: 'init', script: 'echo first' }],
      containers: [
        { name: 'main', script: `echo one; echo two; echo three; ${WAIT}` },
        { name: 'side', script: `echo aside; ${WAIT}` },
      ],
    });
    await node.running('flags');
    await served(node);
    const logs = (...args: readonly string[]) => printedBy(node, 'logs', 'flags', ...args);
    for (const [container, lines] of [
      ['main', 'one\ntwo\nthree\n'],
      ['side', 'aside\n'],
    ] as const) {
      await eventually('the lines are written', async () => (await logs('-c', container)).stdout === lines);
    }
    const table: readonly [readonly string[], string][] = [
      [['-c', 'side'], 'aside\n'],
      [['-c', 'init'], 'first\n'],
      [['-c', 'main', '--tail=1'], 'three\n'],
      [['-c', 'main', '--tail=0'], ''],
      [['-c', 'main', '--limit-bytes=5'], 'one\nt'],
      [['-c', 'main', '--since=1h', '--tail=2'], 'two\nthree\n'],
      [['-c', 'main', '--since-time=2100-01-01T00:00:00Z'], ''],
      [['-c', 'main', '--insecure-skip-tls-verify-backend', '--tail=1'], 'three\n'],
    ];
    for (const [args, stdout] of table) {
      const { code, ...streams } = await logs(...args);
      expect([args, code, streams.stdout]).toEqual([args, 0, stdout]);
    }
    // kubectl prints the containers in any order.
    const all = await logs('--all-containers', '--tail=1');
    expect(all.stdout.split('\n').toSorted()).toEqual(['', 'aside', 'first', 'three']);
    expect((await logs('-c', 'side', '--timestamps')).stdout).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(Z|[+-]\d\d:\d\d) aside\n$/,
    );
    expect(await logs('-c', 'main', '--previous')).toEqual(
      failed('Error from server (BadRequest): previous terminated container "main" in pod "flags" not found'),
    );
    expect((await logs('-c', 'men')).stderr).toContain('container men is not valid for pod flags');
  });

  it('gives the reason for which a container has no log', async ({ node }) => {
    await node.create({
      name: 'waits',
      containers: [{ image: 'stage.test/missing:1', imagePullPolicy: 'Never' }],
    });
    await served(node);
    const waiting = failed(
      'Error from server (BadRequest): container "main" in pod "waits" is waiting to start: ErrImageNeverPull',
    );
    await eventually('the reason is known', async () => {
      expect(await printedBy(node, 'logs', 'waits')).toEqual(waiting);
      return true;
    });
  });

  it('finds a static pod by the name of its mirror', async ({ node }) => {
    node.apply({ name: 'fixed', containers: [{ script: `echo fixed; ${WAIT}` }] });
    await served(node);
    await eventually('the log is printed', async () => {
      expect(await printedBy(node, 'logs', '--namespace', 'default', `fixed-${NAME}`)).toEqual(printed('fixed\n'));
      return true;
    });
    node.delete('fixed.yaml');
  });

  it('follows a container to its end, and prints the one before it after the restart', async ({ node }) => {
    await node.create({
      name: 'turns',
      volumes: [{ name: 'runs', emptyDir: {} }],
      containers: [{ script: IN_TURNS, volumeMounts: [{ name: 'runs', mountPath: '/runs' }] }],
    });
    await node.running('turns');
    await served(node);
    const first = startKubectl(node, 'logs', '--follow', 'turns');
    await eventually('the log is followed', () => first.output() === 'run 1\n');
    const [{ id } = { id: '' }] = await node.containersNamed('turns');
    await node.letGo(id, '/end');
    expect([await first.exit, first.output(), first.problems()]).toEqual([0, 'run 1\nend 1\n', '']);
    await eventually('both logs are printed', async () => {
      expect(await printedBy(node, 'logs', '--previous', 'turns')).toEqual(printed('run 1\nend 1\n'));
      expect(await printedBy(node, 'logs', 'turns')).toEqual(printed('run 2\n'));
      return true;
    });
  });

  it('follows a log over its rotation without losing or doubling a line', async ({ node }) => {
    const script = `while [ ! -e /go ]; do sleep 0.1; done; ${writeLines(LINES, 'while [ ! -e /end ]; do sleep 0.1; done')}`;
    const { metadata } = await node.create({
      name: 'rotates',
      restartPolicy: 'Never',
      containers: [{ script: `echo begin; ${script}` }],
    });
    await node.running('rotates');
    await served(node);
    const followed = startKubectl(node, 'logs', '--follow', 'rotates');
    await eventually('the log is followed', () => followed.output() === 'begin\n');
    const [{ id } = { id: '' }] = await node.containersNamed('rotates');
    const logPath = join(node.logs, `${NAME}_rotates_${metadata.uid}`, 'main', '0.log');
    await node.letGo(id, '/go');
    const all = ['begin', ...linesWritten(1, LINES), ''].join('\n');
    await eventually('all lines are printed, and the log was rotated', () => {
      expect(rotatedNames(logPath).length).toBeGreaterThan(0);
      return followed.output().length >= all.length;
    });
    await node.letGo(id, '/end');
    expect([await followed.exit, followed.problems()]).toEqual([0, '']);
    expect(followed.output()).toBe(all);
  });
});

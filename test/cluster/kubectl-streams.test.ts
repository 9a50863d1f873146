import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { freeHostPort } from '../containerd/host-port.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf } from '../embedded/manifests.js';
import { killProcess } from '../support/kill-process.js';
import type { ClusterNode } from './cluster-node.js';
import { kubectl, kubectlFlags, runCommand } from './kubectl.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const MIB = 2 ** 20;
const port = await freeHostPort();
const it = onNode('streaming', ({ cluster }) => [
  ...['--port', String(port), '--client-ca-file', join(cluster.folder, 'pki', 'ca.crt')],
]);

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Runs a pod of this name, in which a client executes commands. */
const runPod = async (node: ClusterNode, name: string, container: ContainerOf = {}): Promise<void> => {
  await node.create({ name, containers: [container] });
  await node.running(name);
  await isServed(node);
};

/** The first start of the agent makes a key, which takes a while. */
const isServed = (node: ClusterNode) =>
  eventually('the kubelet API is served', () => node.log.includes('the kubelet API is served'));

const execIn = (pod: string, ...command: readonly string[]): readonly string[] => ['exec', '-i', pod, '--', ...command];
const scriptIn = (pod: string, script: string): readonly string[] => ['exec', pod, '--', 'sh', '-c', script];

overCluster('kubectl', () => {
  it('executes a command, with its output, its errors and its exit code', async ({ node }) => {
    await runPod(node, 'codes');
    const { code, stdout, stderr } = await kubectl(node, scriptIn('codes', 'echo out; echo err >&2; exit 3'));
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 3, stdout: 'out\n' });
    expect(stderr).toContain('err\n');
    expect(stderr).toContain('command terminated with exit code 3');
    expect(await kubectl(node, scriptIn('codes', 'true'))).toMatchObject({ code: 0, stderr: '' });
    // 128 and the number of the signal, as a shell has it.
    expect((await kubectl(node, scriptIn('codes', 'kill -9 $$'))).code).toBe(137);
    const missing = await kubectl(node, ['exec', 'codes', '--', 'no-such-program']);
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('no-such-program');
  });

  it('sends the whole input of a command, and gets the whole output', async ({ node }) => {
    await runPod(node, 'input');
    const input = randomBytes(10 * MIB);
    const sum = await kubectl(node, execIn('input', 'sha256sum'), input);
    expect(sum).toMatchObject({ code: 0 });
    expect(sum.stdout.toString()).toBe(`${sha256(input)}  -\n`);
    const copy = await kubectl(node, execIn('input', 'cat'), input);
    expect({ code: copy.code, sum: sha256(copy.stdout) }).toEqual({ code: 0, sum: sha256(input) });
  });

  it('executes a shell at a terminal', async ({ node }) => {
    await runPod(node, 'terminal');
    const command = ['kubectl', ...kubectlFlags(node), 'exec', '-it', 'terminal', '--', 'sh', '-c'];
    const quoted = [
      ...command,
      'tty; until size=$(stty size 2>/dev/null) && test -n "$size"; do sleep 0.1; done; echo "$size"; read line; echo "got $line"; exit 4',
    ].map((word) => `'${word}'`);
    // The size of the terminal arrives after the start of the command.
    const atTerminal = `stty rows 33 cols 99; ${quoted.join(' ')}; echo "kubectl ended with $?"`;
    const { stdout } = await runCommand(['script', '--quiet', '--command', atTerminal, '/dev/null'], 'hello\n');
    const output = stdout.toString();
    expect(output).toContain('/dev/pts/');
    expect(output).toContain('33 99');
    expect(output).toContain('got hello');
    expect(output).toContain('kubectl ended with 4');
  });

  it('copies a file in both directions', async ({ node }) => {
    await runPod(node, 'files');
    const folder = mkdtempSync(join(tmpdir(), 'kubectl-cp-'));
    try {
      const [sent, received] = [join(folder, 'sent'), join(folder, 'received')];
      const bytes = randomBytes(100 * MIB);
      writeFileSync(sent, bytes);
      expect(await kubectl(node, ['cp', sent, 'files:/tmp/copy'])).toMatchObject({ code: 0 });
      expect((await kubectl(node, scriptIn('files', 'sha256sum </tmp/copy'))).stdout.toString()).toBe(
        `${sha256(bytes)}  -\n`,
      );
      expect(await kubectl(node, ['cp', 'files:/tmp/copy', received])).toMatchObject({ code: 0 });
      expect(sha256(readFileSync(received))).toBe(sha256(bytes));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('forwards fifty connections at a time to a port of a pod', async ({ node }) => {
    const script =
      'mkdir /www; head -c 300000 /dev/urandom >/www/file; sha256sum </www/file >/www/sum; httpd -f -p 8080 -h /www';
    await runPod(node, 'web', { script });
    const forward = spawn('kubectl', [...kubectlFlags(node), 'port-forward', 'pod/web', ':8080'], { stdio: 'pipe' });
    try {
      const [line] = (await once(createInterface(forward.stdout), 'line')) as [string];
      const [, local] = /127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      const bytes = (path: string): Promise<string> =>
        new Promise((resolve, reject) =>
          get({ port: local, path, agent: false }, (response) => {
            response.setEncoding('latin1');
            text(response).then(resolve, reject);
          }).on('error', reject),
        );
      const files = await Promise.all(Array.from({ length: 50 }, () => bytes('/file')));
      const sums = files.map((file) => `${sha256(Buffer.from(file, 'latin1'))}  -\n`);
      expect(new Set(sums)).toEqual(new Set([await bytes('/sum')]));
    } finally {
      killProcess(forward.pid);
    }
  });

  it('attaches to the input of a container until it ends', async ({ node }) => {
    // The runtime passes input on before it has attached the output, of which the beginning may be lost.
    const script =
      'until read -t 1 line; do echo waiting; done; echo "got $line"; ' +
      'while read line; do echo "got $line"; done; echo over; until test -e /seen; do sleep 0.1; done; exit 5';
    await node.create({
      ...{ name: 'reader', restartPolicy: 'Never' },
      containers: [{ script, stdin: true, stdinOnce: true }],
    });
    await node.running('reader');
    await isServed(node);
    const seen = { text: 'over\n', then: () => kubectl(node, ['exec', 'reader', '--', 'touch', '/seen']) };
    const input = { afterOutput: 'one\ntwo\n', ends: true, seen };
    const { code, stdout } = await kubectl(node, ['attach', '-i', 'reader'], input);
    expect(stdout.toString()).toMatch(/^(waiting\n)+got one\ngot two\nover\n$/);
    expect(code).toBe(0);
    await node.ended('reader', 'Failed');
  });

  it('debugs a copy of a pod', async ({ node }) => {
    await runPod(node, 'copied');
    const args = ['debug', 'copied', '--copy-to=examined', '--same-node', '--container=main', '-i', '--', 'sh'];
    // The runtime detaches a client from the output at the end of its input.
    const input = { first: 'while ! read -t 1 over; do echo "in $HOSTNAME"; done; exit 0\n', afterOutput: 'over\n' };
    const { code, stdout, stderr } = await kubectl(node, args, input);
    expect(stdout.toString(), stderr).toMatch(/^(in examined\n)+$/);
    expect(code).toBe(0);
  });
});

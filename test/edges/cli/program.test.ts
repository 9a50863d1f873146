import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../embedded/daemon.js';
import { eventually } from '../../embedded/eventually.js';
import { readJournal } from '../../../src/journal/journal-reader.js';
import { useAgentChild } from './bundled-child.js';

const agentChild = useAgentChild();

let folder = '';
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'program-'));
});
afterEach(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

const start = (args: readonly string[], { input = '', kubelet = 'endless' } = {}) => {
  const child = spawn(process.execPath, [agentChild(), ...args], {
    env: { ...process.env, FAKE_KUBELET: kubelet },
  });
  children.push(child);
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const result = output.then(([stdout, stderr, [code]]) => ({ code: code as number, stdout, stderr }));
  return { child, result };
};
const run = (...args: string[]) => start(args).result;

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: app, image: i}]}
`;
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('the command line', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await run('--version')).toEqual({ code: 0, stdout: `rx-kubelet ${version}\n`, stderr: '' });
  });

  it('prints help with every command', async () => {
    const { code, stdout } = await run('--help');
    expect(code).toBe(0);
    for (const command of ['run', 'pods', 'why', 'validate', 'runtime']) expect(stdout).toContain(`  ${command} `);
    expect((await run('run', '--help')).stdout).toContain('--pod-manifest-path <path>');
  });

  it.each([
    [['--nonsense'], /^Error: unknown option '--nonsense'\n$/],
    [['--sync-frequenc', '1s'], /^Error: unknown option '--sync-frequenc' \(Did you mean --sync-frequency\?\)\n$/],
    [
      ['--cluster-dns=10.96.0.10'],
      /^Error: unknown option '--cluster-dns' \(set clusterDNS in the file of --config\)\n$/,
    ],
    [
      ['run', '--Cluster_dns', '10.96.0.10'],
      /^Error: unknown option '--Cluster-dns' \(set clusterDNS in the file of --config\)\n$/,
    ],
    [['pods', '--cluster-dns=10.96.0.10'], /^Error: unknown option '--cluster-dns=10.96.0.10'\n$/],
    [['frobnicate'], /^Error: unknown command frobnicate\n$/],
    [['pdos'], /^Error: unknown command pdos \(Did you mean pods\?\)\n$/],
    [['--root-dir', '/dev/null/x'], /^Error: .*'\/dev\/null\/x'; --root-dir names another folder\n$/],
    [
      ['--sync-frequency', '5'],
      /^Error: option '--sync-frequency <duration>' argument '5' is invalid\. expected a duration/,
    ],
    [['--healthz-port=x'], /argument 'x' is invalid\. expected a whole number\n$/],
    [['--healthz-port=99999'], /healthzPort \(--healthz-port\) 99999 must be between 1 and 65535, inclusive/],
    [['--feature-gates=A'], /missing bool value for A\n$/],
    [['--manifest-url-header', 'secret'], /expected Name:value\n$/],
    [['--config', '/nowhere.yaml'], /^Error: failed to load kubelet config file, path: \/nowhere\.yaml, error: ENOENT/],
    [['--hostname-override', ' '], /^Error: empty hostname is invalid\n$/],
    [['validate'], /^Error: missing required argument/],
    [['why', 'a/b/c'], /^Error: "a\/b\/c" is no pod: expected POD or POD\/CONTAINER/],
  ])('refuses %j in one line', async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('names the line of what is wrong in a configuration', async () => {
    const path = file(
      'config.yaml',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nsyncFrequency: soon\n',
    );
    const { code, stderr } = await run('run', '--config', path);
    expect(code).toBe(1);
    expect(stderr).toContain(`${path}:3:16: syncFrequency: time: invalid duration "soon"`);
  });
});

describe('validate', () => {
  it('says that good manifests are good, from files, folders and standard input', async () => {
    file('web.yaml', POD);
    file('.hidden', 'not yaml: [');
    expect(await run('validate', folder)).toEqual({ code: 0, stdout: 'ok: 1 pod in 1 file\n', stderr: '' });
    expect((await start(['validate', '-'], { input: POD }).result).stdout).toBe('ok: 1 pod in 1 file\n');
  });

  it('prints every problem with its place, and fails', async () => {
    const path = file('bad.yaml', POD.replace('image: i', 'imge: i'));
    const { code, stdout } = await run('validate', path);
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^${path}:4:\\d+: spec\\.containers\\[0\\]`));
    const { stdout: json } = await run('validate', '-o', 'json', path);
    expect(JSON.parse(json)).toMatchObject({ pods: 0, problems: [{ file: path, line: 4 }] });
  });

  it('warns of what will not work, and does not fail', async () => {
    const hook = 'lifecycle: {preStop: {tcpSocket: {port: 80}}}';
    const path = file('doubtful.yaml', POD.replace('image: i', `image: i, ${hook}`));
    const { code, stdout } = await run('validate', path);
    expect(code).toBe(0);
    const warning = `warning: ${path}:4:\\d+: spec\\.containers\\[0\\]\\.lifecycle\\.preStop\\.tcpSocket: is not run by any kubelet`;
    expect(stdout).toMatch(new RegExp(`^${warning}.*\nok: 1 pod in 1 file\n$`));
  });

  it('names a file that is not there', async () => {
    const stdout = '/nowhere.yaml:1:1: does not exist (expected a manifest or a folder of manifests)\n';
    expect(await run('validate', '/nowhere.yaml')).toEqual({ code: 1, stdout, stderr: '' });
  });
});

describe('run', () => {
  const runArgs = () => ['run', '--root_dir', folder, '--healthz_port=0', '--container-runtime-endpoint=unix:///none'];

  /** Resolves with what was printed so far, once it has `needle`. */
  const printed = (child: ChildProcess, needle: string) =>
    new Promise<string>((resolve, reject) => {
      let seen = '';
      child.stderr?.on('data', (part: Buffer) => {
        seen += part.toString();
        if (seen.includes(needle)) resolve(seen);
      });
      child.on('exit', () => reject(new Error(`it ended before it said ${needle}: ${seen}`)));
    });

  it('says where it is while it runs, and stops on SIGTERM with code 0', async () => {
    const { child, result } = start([...runArgs(), '--hostname-override', 'Node-1']);
    await printed(child, 'the loop runs');
    const agentFile = join(folder, 'agent.json');
    expect(JSON.parse(readFileSync(agentFile, 'utf8'))).toMatchObject({ pid: child.pid, node: 'node-1' });
    child.kill('SIGTERM');

    const { code, stderr } = await result;
    expect(code).toBe(0);
    expect(JSON.parse(stderr.split('\n')[0] ?? '')).toMatchObject({ level: 'info', message: 'rx-kubelet starts' });
    expect(existsSync(agentFile)).toBe(false);
    expect(stderr).toContain('1 pod goes on running without the agent');
    expect(readJournal(join(folder, 'journal')).entries).toMatchObject([
      { kind: 'agent-started', node: 'node-1' },
      { kind: 'agent-stopping', reason: 'SIGTERM' },
    ]);
  });

  it('ends at once with code 1 on a second signal', async () => {
    const { child, result } = start([...runArgs(), '--stop-pods-on-exit'], { kubelet: 'unstoppable' });
    await printed(child, 'the loop runs');
    const stopping = printed(child, 'stopping all pods');
    child.kill('SIGINT');
    await stopping;
    child.kill('SIGTERM');
    expect((await result).code).toBe(1);
  });

  it('stops the pods first where that is asked for', async () => {
    const { child, result } = start([...runArgs(), '--stop-pods-on-exit']);
    await printed(child, 'the loop runs');
    child.kill('SIGTERM');
    const { code, stderr } = await result;
    expect(code).toBe(0);
    expect(stderr).toContain('stopping all pods');
  });

  it('is alone on its root directory, and names who else is there', async () => {
    const { child } = start(runArgs());
    await printed(child, 'the loop runs');
    expect(await run(...runArgs())).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: another agent (pid ${child.pid}) already uses ${folder}\n`,
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { result } = start(runArgs(), { kubelet: 'once' });
    expect((await result).code).toBe(0);
  });

  it('starts although another process has taken the name that its lock once had', async () => {
    const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
    const thief = createServer().listen(`\0rx-kubelet-${name}`);
    await once(thief, 'listening');
    const { code } = await start(runArgs(), { kubelet: 'once' }).result;
    thief.close();
    expect(code).toBe(0);
  });

  it('ends when its root directory is removed, and keeps no successor from starting', async () => {
    const { child, result } = start(runArgs());
    await printed(child, 'the loop runs');
    // The agent may write a file while the folder goes.
    await eventually('the root directory is gone', () => {
      rmSync(folder, { recursive: true, force: true });
      return true;
    });
    const { code, stderr } = await result;
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      `Error: ${join(folder, 'agent.lock')} was removed or replaced: another agent may use ${folder}, so this one ends`,
    );
    expect((await start(runArgs(), { kubelet: 'once' }).result).code).toBe(0);
  });

  it('runs without saying where it is when that cannot be written, and names the path', async () => {
    mkdirSync(join(folder, 'agent.json'));
    const { code, stderr } = await start(runArgs(), { kubelet: 'once' }).result;
    expect(stderr).toContain('the loop runs');
    expect(stderr).toContain(`"path":"${join(folder, 'agent.json')}"`);
    expect(code).toBe(0);
  });

  it.runIf(process.geteuid?.() === 0)('starts on a disk that is full, with a warning', async () => {
    const mounted = join(folder, 'full');
    mkdirSync(mounted);
    const mount = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mounted];
    expect(spawnSync('mount', mount).status).toBe(0);
    try {
      spawnSync('dd', ['if=/dev/zero', `of=${join(mounted, 'filled')}`, 'bs=1k', 'count=100']);
      const { code, stderr } = await start([...runArgs(), '--root-dir', mounted], { kubelet: 'once' }).result;
      expect(stderr).toContain('the loop runs');
      expect(stderr).toMatch(/"warn".*full\/agent\.json.*ENOSPC/);
      expect(code).toBe(0);
    } finally {
      spawnSync('umount', [mounted]);
    }
  });

  it('ends with code 1 when the loop breaks', async () => {
    const { result } = start(runArgs(), { kubelet: 'broken' });
    const { code, stderr } = await result;
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('Error: the loop is broken');
  });

  it('is found by the other commands', async () => {
    expect((await run('pods', '--root-dir', folder)).stderr).toMatch(/^Error: no agent runs on /);
    const { child } = start([...runArgs(), '--healthz-port', '0']);
    await printed(child, 'pods and metrics are served');
    expect((await run('pods', '--root-dir', folder)).stdout).toContain('default     web    0/1     Unknown');

    const answer = await run('why', '--root-dir', folder, 'web');
    expect(answer.code).toBe(1);
    expect(answer.stderr).toBe('no pod "web" in the journal\nit knows no pod yet\n');
  });

  it('is explained by the name in a manifest, which is an answer', async () => {
    mkdirSync(join(folder, 'journal'));
    const pod = { name: 'web-n', namespace: 'default', uid: 'u1' };
    const entries = [
      { id: 'a-1', at: 1000, causes: [], kind: 'agent-started', version: '1', node: 'n' },
      { id: 'a-2', at: 2000, causes: [], kind: 'config', op: 'ADD', source: 'file', pod },
    ];
    file('journal/journal.jsonl', entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    const { code, stdout } = await run('why', '--root-dir', folder, 'web');
    expect(stdout).toMatch(/^web-n_default is known for .*\nnext: nothing until the agent runs again/);
    expect(code).toBe(0);
  });

  it.each([
    [[], true],
    [['--pod-manifest-path', '/nowhere'], false],
    [['--manifest-url', 'http://127.0.0.1:1/'], false],
  ])('with the sources %j: logs that it has no source of pods: %s', async (args, isSaid) => {
    const { stderr } = await start([...runArgs(), ...args], { kubelet: 'once' }).result;
    expect(stderr.includes('there is no source of pods')).toBe(isSaid);
  });

  it('names the flag for another port where its own is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { child } = start([...runArgs(), `--healthz-port=${port}`]);
    const seen = await printed(child, 'cannot serve health');
    other.close();
    expect(seen).toContain('cannot serve health; --healthz-port names another port, 0 for none');
  });

  it('lists its pods', async () => {
    mkdirSync(join(folder, 'a'));
    const port = await freePort();
    const { child } = start(['--root-dir', folder, '--container-runtime-endpoint=/none', `--healthz-port=${port}`]);
    await Promise.all([printed(child, 'health is served'), printed(child, 'pods and metrics are served')]);
    expect((await run('pods', '--root-dir', folder)).stdout).toBe(
      'NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE\ndefault     web    0/1     Unknown   0          <unknown>\n',
    );
    expect(JSON.parse((await run('pods', '--root-dir', folder, '-o', 'json')).stdout)).toMatchObject({
      kind: 'PodList',
    });
    const journal = join(folder, 'journal', 'journal.jsonl');
    await eventually('the journal begins', () => readFileSync(journal, 'utf8').includes('agent-started'));
    const refusal = { kind: 'config-problem', source: 'file', from: 'm/a.yaml', problem: 'm/a.yaml:1:1: is no pod' };
    appendFileSync(journal, `${JSON.stringify({ id: 'x-1', at: Date.now(), causes: [], ...refusal })}\n`);
    expect((await run('pods', '--root-dir', folder)).stderr).toBe('refused: m/a.yaml:1:1: is no pod\n');
    const health = await fetch(`http://127.0.0.1:${port}/healthz?verbose`);
    expect(await health.text()).toContain('[+]syncloop ok');
    expect((await fetch(`http://127.0.0.1:${port}/pods`)).status).toBe(404);
    expect(statSync(join(folder, 'agent', 'agent.sock')).mode & 0o777).toBe(0o600);
  });
});

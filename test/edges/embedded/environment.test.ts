import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canMount } from '../../../src/model/cri/mount-ability.js';
import { unappliedByRuntime } from '../../../src/model/manifest/security-fields.js';
import { eventually, isRoot, RuntimeUnderTest } from './runtime-under-test.js';

const host = new RuntimeUnderTest();
let sandbox: string;
beforeAll(async () => {
  process.env['SECRET_OF_THE_AGENT'] = 'leaked';
  await host.start();
  sandbox = await host.sandbox('environment');
});
afterAll(() => host.dispose());

const outputOf = async (name: string, script: string, more: object = {}, pod = sandbox): Promise<string> => {
  const id = await host.run(pod, script, { metadata: { name, attempt: 0 }, ...more });
  const { logPath } = await host.exited(id);
  return host.output(logPath);
};
const bytes = (text: string) => Buffer.from(text);

describe('what a container sees', () => {
  it('has exactly its own variables and the usual three', async () => {
    const envs = [
      { key: 'PLAIN', value: bytes(`it's "quoted" $HOME \`x\``) },
      { key: 'odd.name', value: bytes('dots') },
      { key: 'OPTIND', value: bytes('abc') },
      { key: 'LINES', value: bytes('two\nlines') },
    ];
    const id = await host.create(sandbox, '', { metadata: { name: 'env', attempt: 0 }, envs, command: ['env', '-0'] });
    await host.runtime.startContainer({ containerId: id });
    const { logPath } = await host.exited(id);
    const seen = host.output(logPath).split('\0').filter(Boolean).toSorted();
    expect(seen).toEqual(
      [
        `PLAIN=it's "quoted" $HOME \`x\``,
        'odd.name=dots',
        'OPTIND=abc',
        'LINES=two\nlines',
        `HOSTNAME=${hostname()}`,
        `HOME=${isRoot ? '/root' : process.env['HOME']}`,
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      ].toSorted(),
    );
  });

  it.each(['', 'odd=program', '-odd=program', '-odd'])(
    'takes the names of variables and of the program %j for nothing but names',
    async (program) => {
      const folder = join(host.directory, 'bin');
      mkdirSync(folder, { recursive: true });
      const path = program === '' ? 'env' : program;
      // A shell script would not do: shells drop variables that they could not have set.
      if (program !== '') symlinkSync('/usr/bin/env', join(folder, program));
      const odd = program === '-odd' ? [] : ['-S', '-C', '--help', '-', '-u', '--'];
      const envs = [
        ...odd.map((key) => ({ key, value: bytes('sh -c id') })),
        { key: 'PATH', value: bytes(`${folder}:/usr/bin:/bin`) },
      ];
      const metadata = { name: `dashes-${program}`, attempt: 0 };
      const id = await host.create(sandbox, '', { metadata, envs, command: [path, '-0'] });
      await host.runtime.startContainer({ containerId: id });
      const { logPath, exitCode } = await host.exited(id);
      expect(exitCode).toBe(0);
      const seen = host.output(logPath).split('\0');
      expect(seen.filter((line) => line.startsWith('-')).toSorted()).toEqual(
        odd.map((name) => `${name}=sh -c id`).toSorted(),
      );
      expect(host.output(logPath, 'stderr')).toBe('');
    },
  );

  it('starts in its working directory, with arguments as they are', async () => {
    const command = ['/bin/sh', '-c', 'pwd; printf "%s|" "$@"', 'sh'];
    const args = ['', 'a b', "it's", '$HOME', '-n'];
    expect(await outputOf('cwd', '', { command, args, workingDir: '/usr' })).toBe("/usr\n|a b|it's|$HOME|-n|");
  });

  it('inherits no open file of the runtime, and no ignored signal', async () => {
    const command = 'ls /proc/self/fd';
    // What this test was itself started with goes down to every process below it.
    const inherited = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    expect(await outputOf('clean', `${command}; grep SigIgn /proc/self/status`)).toBe(
      `${inherited}SigIgn:\t0000000000000000\n`,
    );
  });

  it.runIf(isRoot)('runs as the user, group and groups it asks for', async () => {
    const securityContext = {
      runAsUser: { value: 1234n },
      runAsGroup: { value: 2345n },
      supplementalGroups: [3456n],
      noNewPrivs: true,
    };
    const script = 'id -u; id -g; id -G; grep NoNewPrivs /proc/self/status; echo again > /dev/stderr';
    const id = await host.run(sandbox, script, { metadata: { name: 'user', attempt: 0 }, linux: { securityContext } });
    const status = await host.exited(id);
    expect(host.output(status.logPath)).toBe('1234\n2345\n2345 3456\nNoNewPrivs:\t1\n');
    expect(host.output(status.logPath, 'stderr')).toBe('again\n');
    expect(status.user?.linux).toEqual({ uid: 1234n, gid: 2345n, supplementalGroups: [3456n] });
  });

  it('refuses a user name that does not exist', async () => {
    const linux = { securityContext: { runAsUsername: 'nobody-of-that-name' } };
    await expect(host.create(sandbox, 'true', { metadata: { name: 'who', attempt: 0 }, linux })).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('nobody-of-that-name') as string,
    });
  });
});

describe.runIf(isRoot)('namespaces', () => {
  it('gives a pod its own processes, hostname and ipc, shared by its containers', async () => {
    const pod = await host.sandbox('own', { hostname: 'pod-one' });
    const seen = await outputOf(
      'look',
      'cat /proc/sys/kernel/hostname; cat /proc/1/comm; ls /proc | grep -c "^[0-9]*$"',
      {},
      pod,
    );
    const [name, init, processes] = seen.trim().split('\n');
    expect(name).toBe('pod-one');
    expect(init).toMatch(/^(sleep|sh)$/);
    expect(Number(processes)).toBeLessThan(10);
    const links = 'for n in pid ipc uts net; do readlink /proc/self/ns/$n; done';
    const [one, two] = [await outputOf('one', links, {}, pod), await outputOf('two', links, {}, pod)];
    expect(one).toBe(two);
    const [pid, ipc, uts, net] = one.trim().split('\n');
    expect(pid).not.toBe(readlinkSync('/proc/self/ns/pid'));
    expect(ipc).not.toBe(readlinkSync('/proc/self/ns/ipc'));
    expect(uts).not.toBe(readlinkSync('/proc/self/ns/uts'));
    expect(net).toBe(readlinkSync('/proc/self/ns/net'));
    expect(hostname()).not.toBe('pod-one');
  });

  it('shares what the pod wants to share with the node', async () => {
    const namespaceOptions = { network: 'NODE', pid: 'NODE', ipc: 'NODE' } as const;
    const pod = await host.sandbox('shared', { linux: { securityContext: { namespaceOptions } } });
    const links = 'for n in pid ipc uts; do readlink /proc/self/ns/$n; done';
    const expected = ['pid', 'ipc', 'uts'].map((kind) => `${readlinkSync(`/proc/self/ns/${kind}`)}\n`).join('');
    expect(await outputOf('links', links, {}, pod)).toBe(expected);
    const { status } = await host.runtime.podSandboxStatus({ podSandboxId: pod });
    expect(status?.linux?.namespaces?.options).toMatchObject(namespaceOptions);
  });

  it('reaps orphans, so that none stays a zombie', async () => {
    const pod = await host.sandbox('orphans');
    const ends = join(host.directory, 'ends');
    const script = `for i in 1 2 3 4 5; do (sh -c "(sleep 0.05; echo end >> ${ends}) &" &); done
      until [ "$(cat ${ends} 2>/dev/null | wc -l)" = 5 ]; do sleep 0.05; done
      while cat /proc/[0-9]*/stat 2>/dev/null | grep -q ") Z"; do sleep 0.05; done; echo none`;
    expect(await outputOf('reap', script, {}, pod)).toBe('none\n');
  });

  it('mounts for one container only, read-only if asked, and leaves the machine as it was', async () => {
    const [source, target] = [join(host.directory, 'source'), join(host.directory, 'target')];
    for (const directory of [source, target]) mkdirSync(directory);
    writeFileSync(join(source, 'file'), 'mounted\n');
    const mounts = [{ hostPath: source, containerPath: target, readonly: true }];
    const script = `cat ${target}/file; echo x > ${target}/new || echo read-only`;
    expect(await outputOf('mounted', script, { mounts })).toBe('mounted\nread-only\n');
    expect(await outputOf('unmounted', `ls -A ${target} | wc -l`)).toBe('0\n');
    expect(readdirSync(target)).toEqual([]);
    expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(target);
  });

  it('gives a container a /dev of its own where the machine has no mount point, and leaves the machine its own', async () => {
    const [words, go] = [join(host.directory, 'words'), join(host.directory, 'words-go')];
    writeFileSync(words, '');
    chmodSync(words, 0o666);
    const name = `rx-embedded-${process.pid}`;
    const script = `
      echo final words > /dev/${name}/deep/words
      echo shared > /dev/shm/${name}
      echo gone > /dev/null
      head -c 3 /dev/zero | wc -c
      stat -c %F /dev/null /dev/pts
      until [ -e ${go} ]; do sleep 0.05; done`;
    const id = await host.run(sandbox, script, {
      metadata: { name: 'own-dev', attempt: 0 },
      mounts: [{ hostPath: words, containerPath: `/dev/${name}/deep/words` }],
      linux: { securityContext: { runAsUser: { value: 65534n } } },
    });
    await eventually('it has said something', () => readFileSync(words, 'utf8') === 'final words\n');
    expect(readdirSync('/dev')).not.toContain(name);
    const beside = { containerId: id, cmd: ['cat', `/dev/${name}/deep/words`], timeout: 10n };
    expect((await host.runtime.execSync(beside)).stdout.toString()).toBe('final words\n');
    writeFileSync(go, '');
    const { exitCode, logPath } = await host.exited(id);
    expect(exitCode).toBe(0);
    expect(host.output(logPath)).toBe('3\ncharacter special file\ndirectory\n');
    expect(readFileSync(`/dev/shm/${name}`, 'utf8')).toBe('shared\n');
    rmSync(`/dev/shm/${name}`);
    await host.runtime.removeContainer({ containerId: id });
    expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(host.directory);
  });

  it('says that it can mount, and what it does not apply', async () => {
    const { info } = await host.runtime.status({ verbose: true });
    expect(canMount(info)).toBe(true);
    expect(unappliedByRuntime(info)).toEqual(['appArmorProfile', 'seLinuxOptions', 'seccompProfile']);
  });

  it('takes a hostname for nothing but a name', async () => {
    const pod = await host.sandbox('dash-host', { hostname: '-n' });
    expect(await outputOf('dash-host', 'cat /proc/sys/kernel/hostname', {}, pod)).toBe('-n\n');
  });

  it('refuses a path that is not absolute, and makes that of a mount point absolute', async () => {
    const create = (name: string, hostPath: string, containerPath: string) =>
      host.create(sandbox, 'true', { metadata: { name, attempt: 0 }, mounts: [{ hostPath, containerPath }] });
    await expect(create('relative', '--help', '/mnt')).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('the path on the machine must be absolute') as string,
    });
    expect(
      await outputOf('relative-point', 'ls -d /--help/bin', {
        mounts: [{ hostPath: '/usr', containerPath: '--help' }],
      }),
    ).toBe('/--help/bin\n');
  });

  it('writes the name servers of the pod', async () => {
    const pod = await host.sandbox('dns', {
      dnsConfig: { servers: ['192.0.2.53'], searches: ['a.example'], options: ['ndots:5'] },
    });
    expect(await outputOf('resolv', 'cat /etc/resolv.conf', {}, pod)).toBe(
      'search a.example\nnameserver 192.0.2.53\noptions ndots:5\n',
    );
  });
});

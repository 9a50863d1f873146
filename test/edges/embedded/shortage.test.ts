import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

const named = (name: string) => ({ metadata: { name, attempt: 0 } });
const hosts: RuntimeUnderTest[] = [];
const hostOf = async (uid?: number): Promise<RuntimeUnderTest> => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  hosts.push(host);
  return host.start();
};
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.dispose()));
});

/** A container that runs until it is killed, and forks nothing; its one process is found by the token. */
const lasting = async (host: RuntimeUnderTest, pod: string, name: string) => {
  const never = join(host.directory, 'never');
  if (!existsSync(never)) execFileSync('mkfifo', ['-m', '666', never]);
  const token = `${host.directory}-token-${name}-`;
  const command = ['/bin/sh', '-c', `read word < ${never}`, token];
  const id = await host.create(pod, '', { ...named(name), command });
  return { id, token };
};
const started = async (host: RuntimeUnderTest, pod: string, name: string) => {
  const made = await lasting(host, pod, name);
  await host.runtime.startContainer({ containerId: made.id });
  const [pid] = await eventually('it runs', () => {
    const pids = processesWith(made.token);
    return pids.length === 1 ? pids : undefined;
  });
  return { ...made, pid };
};
/** As the user of the runtime: not every root may do so for others. */
const limit = (host: RuntimeUnderTest, limits: string, uid = 0): void =>
  void execFileSync('prlimit', ['--pid', String(host.pid), limits], { uid, gid: uid });

describe.skipIf(!isRoot)('a runtime short of descriptors', () => {
  it('keeps its pods and containers, says that it cannot, and can again afterwards', async () => {
    const host = await hostOf();
    const pod = await host.sandbox('short');
    const first = await started(host, pod, 'first');
    const second = await lasting(host, pod, 'second');
    const { startedAt } = await host.status(first.id);
    limit(host, '--nofile=8:');
    await expect(host.runtime.startContainer({ containerId: second.id })).rejects.toThrow('EMFILE');
    await expect(host.create(pod, 'true', named('third'))).rejects.toThrow('EMFILE');
    await expect(host.runtime.execSync({ containerId: first.id, cmd: ['true'] })).rejects.toThrow();
    await expect(host.sandbox('other')).rejects.toThrow();
    expect(await host.status(first.id)).toMatchObject({ state: 'CONTAINER_RUNNING', startedAt });
    limit(host, '--nofile=4096:');
    expect((await host.status(second.id)).state).toBe('CONTAINER_CREATED');
    await host.runtime.startContainer({ containerId: second.id });
    const { status } = await host.runtime.podSandboxStatus({ podSandboxId: pod });
    expect(status?.state).toBe('SANDBOX_READY');
    expect(processesWith(first.token)).toEqual([first.pid]);
    expect(host.stderr).not.toContain('has ended');
  });
});

describe.skipIf(!isRoot)('a runtime short of processes', () => {
  /** A user of its own, since the limit counts all that a user has. */
  const UID = 61_000 + (process.pid % 1000);
  const threadsOf = (uid: number): number =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          const own = readFileSync(`/proc/${pid}/status`, 'utf8');
          return own.includes(`\nUid:\t${uid}\t`) ? readdirSync(`/proc/${pid}/task`) : [];
        } catch {
          return [];
        }
      }).length;

  it.each([
    ['no process at all', 0],
    ['one more process, whose shell cannot fork', 1],
  ])('leaves a container CREATED when there is %s, and starts it later', async (_what, room) => {
    const host = await hostOf(UID);
    const pod = await host.sandbox('few');
    const steady = await started(host, pod, 'steady');
    const container = await lasting(host, pod, 'late');
    limit(host, `--nproc=${threadsOf(UID) + room}:`, UID);
    await expect(host.runtime.startContainer({ containerId: container.id })).rejects.toThrow();
    expect((await host.status(container.id)).state).toBe('CONTAINER_CREATED');
    // The exit code of a shell that could not fork would be that of a probe that failed.
    const exec = host.runtime.execSync({ containerId: steady.id, cmd: ['/bin/sh', '-c', 'exit 0'] });
    await expect(exec).rejects.toMatchObject({ code: 2 });
    limit(host, '--nproc=10000:', UID);
    await host.runtime.startContainer({ containerId: container.id });
    expect((await host.status(container.id)).state).toBe('CONTAINER_RUNNING');
    await eventually('one process of it', () => processesWith(container.token).length === 1);
  });
});

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('what no record names, run by $who', ({ uid }) => {
  it('is ended at the start with a line about it, and nothing of another runtime', async () => {
    const [host, other] = [await hostOf(uid), await hostOf(uid)];
    const lost = await started(host, await host.sandbox('lost'), 'main');
    const kept = await started(other, await other.sandbox('kept'), 'main');
    await host.kill('SIGKILL');
    for (const kind of ['containers', 'sandboxes'])
      rmSync(join(host.stateDirectory, kind), { recursive: true, force: true });
    await host.start();
    expect(processesWith(lost.token)).toEqual([]);
    expect(host.stderr).toMatch(/warn processes without a record are ended .*"pids":\[\d+/);
    expect(processesWith(kept.token)).toEqual([kept.pid]);
    await eventually('no holder is left', () =>
      processesWith(`${host.stateDirectory}/`).every((pid) => pid === host.pid),
    );
  });

  it('is ended with a line about it when its record is broken, which is kept for a person; others are left alone', async () => {
    const host = await hostOf(uid);
    const pod = await host.sandbox('half');
    const lost = await started(host, pod, 'lost');
    const kept = await started(host, pod, 'kept');
    await host.kill('SIGKILL');
    writeFileSync(join(host.stateDirectory, 'containers', lost.id, 'container.json'), '{"id":');
    await host.start();
    expect(processesWith(lost.token)).toEqual([]);
    expect(processesWith(kept.token)).toEqual([kept.pid]);
    const aside = join(host.stateDirectory, 'containers-unreadable', lost.id, 'container.json');
    expect(readFileSync(aside, 'utf8')).toBe('{"id":');
    expect(host.stderr).toContain('an unreadable record is set aside');
    const { containers } = await host.runtime.listContainers({});
    expect(containers.map(({ id }) => id)).toEqual([kept.id]);
  });

  it('is ended together with all of its pod when the record of that is broken', async () => {
    const host = await hostOf(uid);
    const pod = await host.sandbox('broken');
    const lost = await started(host, pod, 'lost');
    const kept = await started(host, await host.sandbox('kept'), 'kept');
    await host.kill('SIGKILL');
    writeFileSync(join(host.stateDirectory, 'sandboxes', pod, 'sandbox.json'), '');
    await host.start();
    expect(processesWith(lost.token)).toEqual([]);
    expect(processesWith(kept.token)).toEqual([kept.pid]);
    expect(existsSync(join(host.stateDirectory, 'sandboxes-unreadable', pod))).toBe(true);
    expect((await host.runtime.listPodSandbox({})).items.map(({ metadata }) => metadata?.name)).toEqual(['kept']);
  });

  it('is removed without a word when it is a directory that was being made', async () => {
    const host = await hostOf(uid);
    await host.kill('SIGKILL');
    const half = join(host.stateDirectory, 'containers', 'a'.repeat(64));
    mkdirSync(half);
    await host.start();
    expect(existsSync(half)).toBe(false);
  });
});

import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

/** Unusual enough to find the process by it. */
const NAP_SECONDS = 100_000 + process.pid;

describe.each(users)('ExecSync, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let containerId: string;
  beforeAll(async () => {
    await host.start();
    const pod = await host.sandbox('exec', { hostname: 'exec-pod' });
    const envs = [{ key: 'COLOUR', value: Buffer.from('green') }];
    containerId = await host.run(pod, `exec sleep ${NAP_SECONDS}`, { envs, workingDir: '/usr' });
  });
  afterAll(() => host.dispose());
  const exec = (script: string, timeout = 0n) =>
    host.runtime.execSync({ containerId, cmd: ['/bin/sh', '-c', script], timeout });

  it('answers with both streams and the exit code, in the surroundings of the container', async () => {
    const { stdout, stderr, exitCode } = await exec('echo $COLOUR; pwd; echo problem >&2; exit 5');
    expect([stdout.toString(), stderr.toString(), exitCode]).toEqual(['green\n/usr\n', 'problem\n', 5]);
    expect(await exec('kill -9 $$')).toEqual({ exitCode: 137, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
  });

  it('runs in the same namespaces as the container, which are its own where the runtime is root', async () => {
    const { stdout } = await exec('for n in pid ipc uts mnt; do readlink /proc/self/ns/$n; done');
    const links = (pid: number | 'self') =>
      ['pid', 'ipc', 'uts', 'mnt'].map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`));
    const [main = 0] = processesWith(`sleep\0${NAP_SECONDS}`);
    expect(stdout.toString().trim().split('\n')).toEqual(links(main));
    if (isRoot && uid === undefined) for (const link of links('self')) expect(links(main)).not.toContain(link);
    else expect(links(main)).toEqual(links('self'));
  });

  it('kills the command and all that it started when the time is over', async () => {
    const token = randomUUID();
    const call = exec(`sh -c "while :; do sleep 1; done" ${token} & sleep 1000`, 1n);
    await expect(call).rejects.toMatchObject({
      code: 4,
      details: expect.stringContaining('timed out after 1s') as string,
    });
    await eventually('nothing of it is left', () => processesWith(token).length === 0);
    expect((await host.status(containerId)).state).toBe('CONTAINER_RUNNING');
  });

  it('lets a script open its streams again, and does not wait for a daemon that keeps them', async () => {
    const { stdout, stderr } = await exec('echo one > /dev/stdout; echo two > /dev/stdout; echo three > /dev/stderr');
    expect([stdout.toString(), stderr.toString()]).toEqual(['one\ntwo\n', 'three\n']);
    expect(await exec('sleep 1000 & echo started; exit 2')).toMatchObject({
      exitCode: 2,
      stdout: Buffer.from('started\n'),
    });
  });

  it('keeps an answer within the size of a message', async () => {
    const { stdout, exitCode } = await exec('head -c 20000000 /dev/zero');
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeGreaterThan(15_000_000);
    expect(stdout.length).toBeLessThan(16 * 1024 * 1024);
  });

  it('says what it cannot run', async () => {
    await expect(host.runtime.execSync({ containerId, cmd: ['no-such-program'], timeout: 0n })).rejects.toMatchObject({
      details: 'exec: "no-such-program": executable file not found in $PATH',
    });
    await expect(host.runtime.execSync({ containerId, cmd: [], timeout: 0n })).rejects.toMatchObject({ code: 3 });
    await expect(host.runtime.execSync({ containerId: 'x', cmd: ['true'], timeout: 0n })).rejects.toMatchObject({
      code: 5,
    });
  });
});

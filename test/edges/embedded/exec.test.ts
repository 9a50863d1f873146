import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('ExecSync, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let containerId: string;
  beforeAll(async () => {
    await host.start();
    const pod = await host.sandbox('exec', { hostname: 'exec-pod' });
    const envs = [{ key: 'COLOUR', value: Buffer.from('green') }];
    containerId = await host.run(pod, 'exec sleep 1000', { envs, workingDir: '/usr' });
  });
  afterAll(() => host.dispose());
  const exec = (script: string, timeout = 0n) =>
    host.runtime.execSync({ containerId, cmd: ['/bin/sh', '-c', script], timeout });

  it('answers with both streams and the exit code, in the surroundings of the container', async () => {
    const { stdout, stderr, exitCode } = await exec('echo $COLOUR; pwd; echo problem >&2; exit 5');
    expect([stdout.toString(), stderr.toString(), exitCode]).toEqual(['green\n/usr\n', 'problem\n', 5]);
    expect((await exec('kill -9 $$')).exitCode).toBe(137);
  });

  const namespaces = isRoot && uid === undefined ? 'the namespaces of the container' : 'the namespaces of this machine';
  it(`runs in ${namespaces}`, async () => {
    expect((await exec('cat /proc/sys/kernel/hostname; cat /proc/1/comm')).stdout.toString()).toMatch(
      /^exec-pod\n(sleep|sh)\n$/,
    );
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

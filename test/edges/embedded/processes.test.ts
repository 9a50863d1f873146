import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('processes, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let sandbox: string;
  beforeAll(async () => {
    await host.start();
    sandbox = await host.sandbox('processes');
  });
  afterAll(() => host.dispose());
  const named = (name: string) => ({ metadata: { name, attempt: 0 } });

  it.each([
    ['exit 0', 0, 'Completed'],
    ['exit 42', 42, 'Error'],
    ['kill -9 $$', 137, 'Error'],
    ['kill -TERM $$', 143, 'Error'],
  ])('reports %s as exit code %i', async (script, exitCode, reason) => {
    const id = await host.run(sandbox, script, named(`exit-${script}`.replaceAll(/\W/g, '-')));
    expect(await host.exited(id)).toMatchObject({ exitCode, reason });
  });

  it('asks with SIGTERM first, and lets the main process end in its own way', async () => {
    const id = await host.run(
      sandbox,
      'trap "echo bye; exit 7" TERM; echo up; while :; do sleep 0.05; done',
      named('polite'),
    );
    const { logPath } = await host.status(id);
    await eventually('the trap is set', () => host.output(logPath) === 'up\n');
    await host.runtime.stopContainer({ containerId: id, timeout: 30n });
    expect(await host.status(id)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 7 });
    expect(host.output(logPath)).toBe('up\nbye\n');
    await host.runtime.stopContainer({ containerId: id, timeout: 30n });
  });

  it('sends the stop signal that the config names', async () => {
    const config = { ...named('usr1'), stopSignal: 'SIGUSR1' as const };
    const id = await host.run(sandbox, 'trap "exit 9" USR1; echo up; while :; do sleep 0.05; done', config);
    const { logPath } = await host.status(id);
    await eventually('the trap is set', () => host.output(logPath) === 'up\n');
    await host.runtime.stopContainer({ containerId: id, timeout: 30n });
    expect(await host.status(id)).toMatchObject({ exitCode: 9 });
  });

  it('kills what ignores the signal when the time is over', async () => {
    const token = randomUUID();
    const id = await host.run(
      sandbox,
      `trap "" TERM; echo up; while :; do sleep 0.05; done # ${token}`,
      named('stubborn'),
    );
    const { logPath } = await host.status(id);
    await eventually('the trap is set', () => host.output(logPath) === 'up\n');
    await host.runtime.stopContainer({ containerId: id, timeout: 1n });
    expect(await host.status(id)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137, reason: 'Error' });
    expect(processesWith(token)).toEqual([]);
  });

  it('ends children and daemons that left their session together with the container', async () => {
    const token = randomUUID();
    const daemon = `sh -c "while :; do sleep 1; done" ${token}`;
    const script = `${daemon} & setsid ${daemon} & ( setsid sh -c '${daemon} &' >/dev/null 2>&1 </dev/null & ); echo up; exec ${daemon}`;
    const id = await host.run(sandbox, script, named('daemons'));
    await eventually('all four run', () => processesWith(token).length >= 4);
    await host.runtime.stopContainer({ containerId: id, timeout: 10n });
    expect(processesWith(token)).toEqual([]);
  });

  it('ends what the main process left behind when it exits by itself', async () => {
    const token = randomUUID();
    const id = await host.run(
      sandbox,
      `setsid sh -c "while :; do sleep 1; done" ${token} & echo up; exit 4`,
      named('orphans'),
    );
    expect(await host.exited(id)).toMatchObject({ exitCode: 4 });
    expect(processesWith(token)).toEqual([]);
  });

  it('kills a running container that is removed, and everything in a pod that is stopped', async () => {
    const token = randomUUID();
    const pod = await host.sandbox('doomed');
    const first = await host.run(pod, `sleep 1000; # ${token}`, named('first'));
    await host.runtime.removeContainer({ containerId: first });
    expect(processesWith(token)).toEqual([]);
    const second = await host.run(pod, `sleep 1000; # ${token}`, named('second'));
    await host.runtime.stopPodSandbox({ podSandboxId: pod });
    expect(processesWith(token)).toEqual([]);
    expect(await host.status(second)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137 });
    await host.runtime.stopPodSandbox({ podSandboxId: pod });
    await expect(host.create(pod, 'true', named('third'))).rejects.toMatchObject({ code: 9 });
    await host.runtime.removePodSandbox({ podSandboxId: pod });
    await host.runtime.removePodSandbox({ podSandboxId: pod });
    await expect(host.status(second)).rejects.toMatchObject({ code: 5 });
  });

  it('says why a program could not be started', async () => {
    const start = async (name: string, config: object) => {
      const id = await host.create(sandbox, '', { ...named(name), ...config });
      const failure = await host.runtime.startContainer({ containerId: id }).catch((error: Error) => error.message);
      return { failure, status: await host.status(id) };
    };
    const missing = await start('missing', { command: ['no-such-program'] });
    expect(missing.failure).toContain('exec: "no-such-program": executable file not found in $PATH');
    expect(missing.status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 128, reason: 'StartError' });
    expect(missing.status.message).toBe('exec: "no-such-program": executable file not found in $PATH');
    expect((await start('path', { command: ['/no/such'] })).failure).toContain(
      'exec: "/no/such": stat /no/such: no such file',
    );
    expect((await start('cwd', { workingDir: '/no/where' })).failure).toContain('working directory "/no/where"');
    for (const [index, workingDir] of ['-', '-P', 'usr'].entries())
      expect((await start(`relative-${index}`, { workingDir, command: ['pwd'] })).failure).toContain(
        `working directory "${workingDir}": it must be an absolute path`,
      );
  });
});

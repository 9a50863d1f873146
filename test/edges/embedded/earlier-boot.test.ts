import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { killProcess } from '../../support/kill-process.js';
import { eventually, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

/** A record on the disk, with these fields changed. */
const edit = (path: string, fields: object): void =>
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), ...fields }));

describe('containers of an earlier boot', () => {
  /** A pod with a container that ran until the power went, as its record was then. */
  const afterBoot = async (fields: object, lost: readonly string[]) => {
    const host = new RuntimeUnderTest();
    onTestFinished(() => host.dispose());
    await host.start();
    const pod = await host.sandbox('earlier');
    const id = await host.run(pod, `sleep 1000; # ${host.directory}`);
    const directory = join(host.stateDirectory, 'containers', id);
    await host.kill('SIGKILL');
    for (const pid of processesWith(host.directory)) killProcess(pid);
    await eventually('no process is left', () => processesWith(host.directory).length === 0);
    edit(join(directory, 'container.json'), { bootId: 'earlier', ...fields });
    edit(join(host.stateDirectory, 'sandboxes', pod, 'sandbox.json'), { bootId: 'earlier' });
    for (const name of lost) rmSync(join(directory, name), { recursive: true });
    await host.start();
    expect((await host.runtime.podSandboxStatus({ podSandboxId: pod })).status?.state).toBe('SANDBOX_NOTREADY');
    return { host, id, status: await host.status(id) };
  };

  it('whose start had begun have run, even if nothing of their process is left', async () => {
    for (const lost of [['io-1'], ['io-1/supervisor'], []]) {
      const { status } = await afterBoot({ state: 'starting' }, lost);
      expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 255, reason: 'Unknown' });
      expect(status.startedAt).toBeGreaterThanOrEqual(status.createdAt);
    }
  });

  it('that ran have an unknown end, even if nothing of their process is left', async () => {
    const { host, status } = await afterBoot({}, ['io-1', 'log-checkpoint-1']);
    expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 255, reason: 'Unknown' });
    // Files of a process that cannot run are not watched: the missing ones would be taken for a shortage.
    expect(host.stderr).not.toContain('no inotify watch is free');
  });

  it('that were created and never started stay so, and can be removed', async () => {
    const { host, id, status } = await afterBoot({ state: 'created', attempts: 0 }, []);
    expect(status.state).toBe('CONTAINER_CREATED');
    await host.runtime.removeContainer({ containerId: id });
    expect((await host.runtime.listContainers({})).containers).toEqual([]);
  });
});

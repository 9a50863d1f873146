import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeCgroups } from '../../../src/runtime/embedded/confinement/cgroup.js';
import { commandClient } from './streaming-client.js';
import { eventually, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

const layout = probeCgroups();

/** The groups of commands below that of the container, in every hierarchy. */
const groupsOf = (containerId: string): string[] => {
  const below = (directory: string): string[] => {
    try {
      return readdirSync(directory, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .flatMap(({ name }) => [join(directory, name), ...below(join(directory, name))]);
    } catch {
      // Removed meanwhile.
      return [];
    }
  };
  const all = (layout?.hierarchies ?? []).flatMap(({ mount }) => below(join(mount, 'rx-embedded')));
  return all.filter((path) => new RegExp(`/${containerId}/exec-[^/]+$`).test(path));
};

describe.runIf(layout)('the cgroup of a command that leaves processes', () => {
  const host = new RuntimeUnderTest();
  let sandboxId: string;
  beforeAll(async () => {
    await host.start();
    sandboxId = await host.sandbox('groups');
  });
  afterAll(() => host.dispose());
  /** A container, and a command that leaves a process until `end` is called. */
  const container = async (name: string) => {
    const gate = join(host.directory, `${name}-gate`);
    const metadata = { name, attempt: 0 };
    const leave = `while [ ! -e '${gate}' ]; do sleep 0.05; done & exit 0`;
    return {
      containerId: await host.run(sandboxId, 'exec sleep 100000', { metadata }),
      cmd: ['/bin/sh', '-c', leave],
      left: () => processesWith(gate).length,
      end: () => writeFileSync(gate, ''),
    };
  };
  /** Longer than the first attempts of an earlier version together. */
  const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_200));

  it('goes when they have ended, with that of every other command', async () => {
    const { containerId, cmd, end } = await container('probed');
    for (let probe = 0; probe < 3; probe += 1)
      expect(await host.runtime.execSync({ containerId, cmd, timeout: 0n })).toMatchObject({ exitCode: 0 });
    const { url } = await host.runtime.exec({ containerId, cmd, stdout: true });
    const client = await commandClient(url, ['stdout']);
    client.streams.stdout?.resume();
    expect(JSON.parse(await client.ended)).toMatchObject({ status: 'Success' });
    await aWhile();
    expect(groupsOf(containerId).length).toBeGreaterThanOrEqual(4);
    end();
    await eventually('no group is left', () => groupsOf(containerId).length === 0);
  });

  it('goes in the next runtime, too, and belongs to no command of that one', async () => {
    const { containerId, cmd, left, end } = await container('adopted');
    await host.runtime.execSync({ containerId, cmd, timeout: 0n });
    const before = groupsOf(containerId);
    expect(before.length).toBeGreaterThan(0);
    await host.kill('SIGKILL');
    await host.start();
    // Its timeout kills all processes of its own group.
    const slow = { containerId, cmd: ['/bin/sh', '-c', 'exec sleep 100000'], timeout: 1n };
    await expect(host.runtime.execSync(slow)).rejects.toMatchObject({ code: 4 });
    expect(groupsOf(containerId)).toEqual(expect.arrayContaining(before));
    // Two, while its shell makes another `sleep`.
    expect(left()).toBeGreaterThanOrEqual(1);
    end();
    await eventually('no group is left', () => groupsOf(containerId).length === 0);
  });
});

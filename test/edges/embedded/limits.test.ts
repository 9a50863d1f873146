import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isRoot, RuntimeUnderTest } from './runtime-under-test.js';

/** Where this machine has a memory controller for us; without one the runtime must say so instead. */
const memoryFile = (sandbox: string, container: string): string | undefined =>
  [
    { groups: '/sys/fs/cgroup/memory/rx-embedded', file: 'memory.limit_in_bytes' },
    { groups: '/sys/fs/cgroup/rx-embedded', file: 'memory.max' },
  ]
    .filter(({ groups }) => existsSync(groups))
    .flatMap(({ groups, file }) =>
      readdirSync(groups).map((instance) => join(groups, instance, sandbox, container, file)),
    )
    .find((path) => existsSync(path));

describe('limits', () => {
  const host = new RuntimeUnderTest();
  beforeAll(() => host.start());
  afterAll(() => host.dispose());

  it('are enforced where the kernel lets the runtime, and named where not', async () => {
    const pod = await host.sandbox('limits');
    const resources = {
      memoryLimitInBytes: 64n * 1024n * 1024n,
      cpuQuota: 50_000n,
      cpuPeriod: 100_000n,
      cpuShares: 512n,
    };
    const id = await host.run(pod, 'exec sleep 1000', { linux: { resources } });
    const { info } = await host.runtime.containerStatus({ containerId: id, verbose: true });
    const { limitsNotEnforced } = JSON.parse(info['info'] ?? '{}') as { limitsNotEnforced: string[] };
    const file = memoryFile(pod, id);
    if (file === undefined) {
      expect(isRoot && limitsNotEnforced.length === 0).toBe(false);
      return;
    }
    expect(limitsNotEnforced).toEqual([]);
    expect(readFileSync(file, 'utf8').trim()).toBe(String(64 * 1024 * 1024));
    await host.runtime.updateContainerResources({
      containerId: id,
      linux: { memoryLimitInBytes: 96n * 1024n * 1024n },
    });
    expect(readFileSync(file, 'utf8').trim()).toBe(String(96 * 1024 * 1024));
    expect((await host.status(id)).resources?.linux).toMatchObject({
      memoryLimitInBytes: 96n * 1024n * 1024n,
      cpuQuota: 50_000n,
    });
  });

  it('distinguish an out-of-memory kill from any other', async () => {
    const pod = await host.sandbox('oom');
    const resources = { memoryLimitInBytes: 32n * 1024n * 1024n };
    // One process, so that the one that is killed is the main one: it doubles a variable until it is stopped.
    const script =
      'x=0123456789abcdef; i=0; while [ $i -lt 24 ]; do x=$x$x; i=$((i+1)); done; echo survived; exec sleep 1000';
    const id = await host.run(pod, script, { linux: { resources } });
    const { logPath } = await host.status(id);
    const survived = await eventually('it is killed, or nothing limits it', async () => {
      if ((await host.status(id)).state === 'CONTAINER_EXITED') return 'no';
      return host.output(logPath) === 'survived\n' ? 'yes' : undefined;
    });
    if (memoryFile(pod, id) === undefined && survived === 'yes') return;
    expect(await host.status(id)).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });
});

import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeUnderTest } from './runtime-under-test.js';

const host = new RuntimeUnderTest();
beforeAll(() => host.start());
afterAll(() => host.dispose());

/** The details of a container that only a verbose status has. */
const verbose = async (containerId: string) => {
  const { info } = await host.runtime.containerStatus({ containerId, verbose: true });
  return JSON.parse(info['info'] ?? '') as Record<string, unknown>;
};

describe('the life of a container', () => {
  it('goes through created, running and exited, with its log and its times', async () => {
    const sandbox = await host.sandbox('life');
    const go = `${host.directory}/go`;
    const script = `echo hello; echo oops >&2; until [ -e ${go} ]; do sleep 0.05; done; exit 3`;
    const id = await host.create(sandbox, script, { labels: { a: 'b' } });
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect((await host.status(id)).state).toBe('CONTAINER_CREATED');
    expect(await verbose(id)).not.toHaveProperty('pid');
    await host.runtime.startContainer({ containerId: id });
    expect((await host.status(id)).state).toBe('CONTAINER_RUNNING');
    expect((await verbose(id))['pid']).toBeGreaterThan(1);
    writeFileSync(go, '');
    const status = await host.exited(id);
    expect(await verbose(id)).not.toHaveProperty('pid');
    expect(status).toMatchObject({ exitCode: 3, reason: 'Error', labels: { a: 'b' }, image: { image: 'host' } });
    expect(status.startedAt).toBeGreaterThanOrEqual(status.createdAt);
    expect(status.finishedAt).toBeGreaterThan(status.startedAt);
    // The streams are two pipes, so their lines have no order.
    const lines = host.logLines(status.logPath);
    expect(lines.toSorted((one, other) => other.stream.localeCompare(one.stream))).toEqual([
      { stream: 'stdout', tag: 'F', content: 'hello' },
      { stream: 'stderr', tag: 'F', content: 'oops' },
    ]);
    await host.runtime.removeContainer({ containerId: id });
    await host.runtime.removeContainer({ containerId: id });
    expect(existsSync(status.logPath)).toBe(true);
    await expect(host.status(id)).rejects.toMatchObject({ code: 5 });
  });
});

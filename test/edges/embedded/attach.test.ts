import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, RuntimeUnderTest } from './runtime-under-test.js';
import { commandClient, type CommandClient } from './streaming-client.js';

const host = new RuntimeUnderTest();
let sandboxId: string;
let count = 0;
beforeAll(async () => {
  await host.start();
  sandboxId = await host.sandbox('attach');
});
afterAll(() => host.dispose());

/** A container that runs each script that `run` writes, until one exits. */
const container = async () => {
  const name = `c${(count += 1)}`;
  const next = join(host.directory, `${name}.sh`);
  const script = `echo on; while :; do [ -e ${next} ] && mv ${next} ${next}.now && . ${next}.now; sleep 0.05; done`;
  const containerId = await host.run(sandboxId, script, { metadata: { name, attempt: 0 }, logPath: `${name}.log` });
  const log = () => host.output(join(host.logDirectory, 'attach', `${name}.log`));
  // From the first output on the log writer has its files open.
  await eventually('it runs', () => log() === 'on\n');
  return {
    containerId,
    run: (lines: string) => writeFileSync(next, lines),
    log,
  };
};
/** The descriptors of the runtime for files of output: those of its log writers, and one for each that a client follows. */
const outputFiles = (): number =>
  readdirSync(`/proc/${host.pid}/fd`).filter((name) => {
    try {
      return /\/io-\d+\/(stdout|stderr)$/.test(readlinkSync(`/proc/${host.pid}/fd/${name}`));
    } catch {
      return false;
    }
  }).length;
/** Resolves when the runtime follows the output. */
const attach = async (containerId: string): Promise<CommandClient & { readonly seen: Record<string, string> }> => {
  const before = outputFiles();
  const { url } = await host.runtime.attach({ containerId, stdout: true, stderr: true });
  const client = await commandClient(url, ['stdout', 'stderr']);
  const seen: Record<string, string> = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    client.streams[name]?.on('data', (chunk: Buffer) => (seen[name] = (seen[name] ?? '') + chunk.toString()));
  await eventually('both are followed', () => outputFiles() === before + 2);
  return { ...client, seen };
};

describe('Attach', () => {
  it('passes both outputs on from now on, to several clients, until the container ends', async () => {
    const { containerId, run, log } = await container();
    run('echo before');
    await eventually('it is in the log', () => log() === 'on\nbefore\n');
    const clients = [await attach(containerId), await attach(containerId)];
    run('echo after; echo problem >&2; exit 3');
    for (const { seen, ended } of clients) {
      expect(JSON.parse(await ended)).toEqual({ metadata: {}, status: 'Success' });
      await eventually('all is seen', () => seen.stderr === 'problem\n');
      expect(seen).toEqual({ stdout: 'after\n', stderr: 'problem\n' });
    }
    expect((await host.exited(containerId)).exitCode).toBe(3);
  });

  it('leaves the container and no descriptor when the client vanishes', async () => {
    const { containerId, run, log } = await container();
    const before = readdirSync(`/proc/${host.pid}/fd`).length;
    const client = await attach(containerId);
    client.socket.destroy();
    await eventually('no descriptor is left', () => readdirSync(`/proc/${host.pid}/fd`).length <= before);
    run('echo alive');
    await eventually('it goes on', () => log() === 'on\nalive\n');
  });

  it('works for containers of an earlier runtime, with all of 20 MiB for a client that is slow', async () => {
    const { containerId, run } = await container();
    await host.kill('SIGKILL');
    await host.start();
    const before = outputFiles();
    const { url } = await host.runtime.attach({ containerId, stdout: true });
    const { streams, ended } = await commandClient(url, ['stdout']);
    await eventually('it follows', () => outputFiles() === before + 1);
    run('head -c 20971520 /dev/zero | tr "\\\\0" x; echo; exit 0');
    await host.exited(containerId);
    let bytes = 0;
    for await (const chunk of streams.stdout ?? []) {
      expect((chunk as Buffer).includes(0)).toBe(false);
      bytes += (chunk as Buffer).length;
    }
    expect(bytes).toBe(20_971_521);
    expect(JSON.parse(await ended)).toMatchObject({ status: 'Success' });
  });

  it('names what is wrong with a request', async () => {
    const { containerId } = await container();
    await expect(host.runtime.attach({ containerId })).rejects.toMatchObject({
      code: 3,
      details: 'one of stdin, stdout, and stderr must be set',
    });
    await expect(host.runtime.attach({ containerId, stdin: true })).rejects.toMatchObject({
      code: 9,
      details: `container "${containerId}" has no input: it was created without stdin`,
    });
    await expect(host.runtime.attach({ containerId: 'x', stdout: true })).rejects.toMatchObject({ code: 5 });
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContainerConfig, DeepPartial } from '../../../src/generated/runtime/v1/api.js';
import { killProcess } from '../../support/kill-process.js';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';
import { commandClient, type CommandClient } from './streaming-client.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('Attach with an input, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let sandboxId: string;
  let count = 0;
  beforeAll(async () => {
    await host.start();
    sandboxId = await host.sandbox('input');
  });
  afterAll(() => host.dispose());

  const container = async (script: string, more: DeepPartial<ContainerConfig> = {}) => {
    const name = `c${(count += 1)}`;
    const metadata = { name, attempt: 0 };
    const containerId = await host.run(sandboxId, script, { metadata, logPath: `${name}.log`, stdin: true, ...more });
    const logPath = join(host.logDirectory, 'input', `${name}.log`);
    return { containerId, log: () => host.output(logPath), lines: () => host.logLines(logPath) };
  };
  /** The descriptors of the runtime for the output: two of the log, and two of each client. */
  const outputs = (containerId: string): number =>
    descriptors().filter((path) => new RegExp(`/${containerId}/io-1/(stdout|stderr)$`).test(path)).length;
  /** Resolves when the runtime follows the output. */
  const attach = async (containerId: string): Promise<CommandClient & { readonly seen: () => string }> => {
    await eventually('the log is written', () => outputs(containerId) >= 2);
    const before = outputs(containerId);
    const { url } = await host.runtime.attach({ containerId, stdin: true, stdout: true, stderr: true });
    const client = await commandClient(url, ['stdin', 'stdout', 'stderr']);
    let seen = '';
    client.streams.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    client.streams.stderr?.resume();
    await eventually('the output is followed', () => outputs(containerId) === before + 2);
    return { ...client, seen: () => seen };
  };
  const holderOf = (containerId: string): number => {
    const text = readFileSync(join(host.stateDirectory, 'containers', containerId, 'io-1', 'input'), 'utf8');
    return Number.parseInt(text, 10);
  };
  const descriptors = (): readonly string[] =>
    readdirSync(`/proc/${host.pid}/fd`).flatMap((name) => {
      try {
        return [readlinkSync(`/proc/${host.pid}/fd/${name}`)];
      } catch {
        return [];
      }
    });
  /** The writing end of the container's input, as /proc names it. */
  const inputOf = (containerId: string): string => readlinkSync(`/proc/${holderOf(containerId)}/fd/1`);
  /** The most memory that the runtime has had. */
  const peakBytes = (): number => {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${host.pid}/status`, 'utf8'))?.[1];
    if (kilobytes === undefined) throw new Error('the runtime has no memory');
    return Number(kilobytes) * 1024;
  };
  const success = { metadata: {}, status: 'Success' };

  it('reaches a shell, which lives on for the next client when the first has ended its input', async () => {
    const { containerId } = await container('exec sh');
    const input = inputOf(containerId);
    const first = await attach(containerId);
    first.streams.stdin?.write('echo $((6*7))\n');
    await eventually('the first is answered', () => first.seen() === '42\n');
    first.streams.stdin?.end();
    expect(JSON.parse(await first.ended)).toEqual(success);
    await eventually(
      'the runtime holds no end of it',
      () => !descriptors().includes(input) && outputs(containerId) === 2,
    );

    const second = await attach(containerId);
    second.streams.stdin?.write('echo $((7*7)); exit 3\n');
    expect(JSON.parse(await second.ended)).toEqual(success);
    await eventually('the second is answered', () => second.seen() === '49\n');
    expect((await host.exited(containerId)).exitCode).toBe(3);
  });

  it('is empty and open until a client attaches', async () => {
    const { containerId, log } = await container('echo begins; read line; echo "got $line"; read line || echo over');
    await eventually('it waits', () => log() === 'begins\n');
    expect((await host.status(containerId)).state).toBe('CONTAINER_RUNNING');
    const client = await attach(containerId);
    client.streams.stdin?.write('text\n');
    await eventually('it has read the line', () => log() === 'begins\ngot text\n');
    client.socket.destroy();
    await eventually('it is not followed any more', () => outputs(containerId) === 2);
    const other = await attach(containerId);
    other.streams.stdin?.write('\n');
    expect(await host.exited(containerId)).toMatchObject({ exitCode: 0 });
    expect(log()).toBe('begins\ngot text\n');
  });

  it('ends for the container with the first client, whose output goes on, if it is for one client', async () => {
    const { containerId } = await container('cat; echo over; sleep 0.1; echo still; exit 5', { stdinOnce: true });
    const client = await attach(containerId);
    client.streams.stdin?.end('all of it\n');
    expect(JSON.parse(await client.ended)).toEqual(success);
    await eventually('all is seen', () => client.seen() === 'all of it\nover\nstill\n');
    expect((await host.exited(containerId)).exitCode).toBe(5);
  });

  it('ends for the container when that first client vanishes, and drops what a later one sends', async () => {
    const { containerId, log } = await container('cat; echo over; exec sleep 100000', { stdinOnce: true });
    const client = await attach(containerId);
    client.streams.stdin?.write('half\n');
    await eventually('it has arrived', () => log() === 'half\n');
    client.socket.destroy();
    await eventually('it has ended', () => log() === 'half\nover\n' && outputs(containerId) === 2);
    const later = await attach(containerId);
    later.streams.stdin?.end('dropped\n');
    await host.runtime.stopContainer({ containerId, timeout: 0n });
    expect(JSON.parse(await later.ended)).toEqual(success);
    expect(log()).toBe('half\nover\n');
  });

  it('arrives as a whole in a container that reads late, and waits for it outside the memory of the runtime', async () => {
    const { containerId, log } = await container('sleep 2; cksum', { stdinOnce: true });
    const client = await attach(containerId);
    const before = peakBytes();
    const bytes = Buffer.alloc(128 * 1024 * 1024, 'x');
    client.streams.stdin?.end(bytes);
    expect(JSON.parse(await client.ended)).toEqual(success);
    expect((await host.exited(containerId)).exitCode).toBe(0);
    expect(log()).toBe(execFileSync('cksum', { input: bytes, encoding: 'utf8' }));
    expect(peakBytes() - before).toBeLessThan(bytes.length / 2);
  });

  it('goes on with the output of a container that has closed its input', async () => {
    const { containerId, log } = await container('exec < /dev/null; echo closed; while :; do sleep 0.1; done');
    await eventually('it is closed', () => log() === 'closed\n');
    const client = await attach(containerId);
    for (let line = 0; line < 100; line += 1) client.streams.stdin?.write('unread\n');
    await host.runtime.stopContainer({ containerId, timeout: 0n });
    expect(JSON.parse(await client.ended)).toEqual(success);
  });

  it('can be opened by its name, by the user of the container, after the client has ended it', async () => {
    const { containerId, log } = await container('read line; sleep 1; cat /dev/stdin', {
      stdinOnce: true,
      ...(isRoot && uid === undefined ? { linux: { securityContext: { runAsUser: { value: 65533n } } } } : {}),
    });
    const client = await attach(containerId);
    client.streams.stdin?.end('one\ntwo\n');
    expect(await host.exited(containerId)).toMatchObject({ exitCode: 0 });
    // A shell reads byte by byte from a pipe.
    expect(log()).toBe('two\n');
  });

  it('survives a killed runtime between two clients', async () => {
    const { containerId, log } = await container('exec sh');
    const first = await attach(containerId);
    first.streams.stdin?.write('x=kept; echo first\n');
    await eventually('it is answered', () => first.seen() === 'first\n');
    await host.kill('SIGKILL');
    await host.start();
    expect(await host.status(containerId)).toMatchObject({ state: 'CONTAINER_RUNNING' });
    const second = await attach(containerId);
    second.streams.stdin?.write('echo second $x; exit 7\n');
    expect(JSON.parse(await second.ended)).toEqual(success);
    expect((await host.exited(containerId)).exitCode).toBe(7);
    expect(log()).toBe('first\nsecond kept\n');
  });

  it('ends with the runtime that is killed while the only client is attached', async () => {
    const { containerId, log } = await container('cat; echo over; exit 8', { stdinOnce: true });
    const client = await attach(containerId);
    client.streams.stdin?.write('half\n');
    await eventually('it has arrived', () => client.seen() === 'half\n');
    await host.kill('SIGKILL');
    await host.start();
    expect((await host.exited(containerId)).exitCode).toBe(8);
    expect(log()).toBe('half\nover\n');
  });

  it('stays open over a killed runtime until the only client attaches', async () => {
    const { containerId, log } = await container('cat; echo over; exit 9', { stdinOnce: true });
    await host.kill('SIGKILL');
    await host.start();
    expect(await host.status(containerId)).toMatchObject({ state: 'CONTAINER_RUNNING' });
    const client = await attach(containerId);
    client.streams.stdin?.end('text\n');
    expect((await host.exited(containerId)).exitCode).toBe(9);
    expect(log()).toBe('text\nover\n');
  });

  it('leaves no process and no descriptor when the container ends while a client is attached', async () => {
    const { containerId } = await container('read line; exit 4');
    const holder = holderOf(containerId);
    const input = inputOf(containerId);
    const client = await attach(containerId);
    await eventually('the runtime writes to it', () => descriptors().includes(input));
    client.streams.stdin?.write('go\n');
    expect(JSON.parse(await client.ended)).toEqual(success);
    expect((await host.exited(containerId)).exitCode).toBe(4);
    await eventually('the runtime holds no end of it', () => !descriptors().includes(input));
    await eventually('no process of it is left', () => processesWith(containerId).length === 0);
    expect(holder).toBeGreaterThan(0);
    await eventually('its holder has ended', () => !readdirSync('/proc').includes(String(holder)));
  });

  it('leaves no process when the supervisor is killed', async () => {
    const { containerId } = await container('exec sleep 100000');
    const holder = holderOf(containerId);
    const supervisor = await eventually('there is one', () => processesWith(`${containerId}/io-1/supervise.sh`)[0]);
    killProcess(supervisor);
    expect(await host.exited(containerId)).toMatchObject({ exitCode: 255, reason: 'Unknown' });
    await eventually('its holder has ended', () => !readdirSync('/proc').includes(String(holder)));
  });

  it('is refused by a container without one', async () => {
    const { containerId } = await container('read line || echo empty; exec sleep 100000', { stdin: false });
    await expect(host.runtime.attach({ containerId, stdin: true, stdout: true })).rejects.toMatchObject({
      code: 9,
      details: `container "${containerId}" has no input: it was created without stdin`,
    });
    expect(() => holderOf(containerId)).toThrow(/ENOENT/);
  });

  it('reports why a container with it does not start', async () => {
    const containerId = await host.create(sandboxId, '', {
      metadata: { name: 'missing', attempt: 0 },
      command: ['no-such-program'],
      stdin: true,
    });
    await expect(host.runtime.startContainer({ containerId })).rejects.toMatchObject({
      details: expect.stringContaining('exec: "no-such-program": executable file not found in $PATH') as string,
    });
    await eventually('no process of it is left', () => processesWith(containerId).length === 0);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContainerConfig, DeepPartial } from '../../../src/generated/runtime/v1/api.js';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';
import { commandClient, type CommandClient } from './streaming-client.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('a container with a terminal, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let sandboxId: string;
  let count = 0;
  beforeAll(async () => {
    await host.start();
    sandboxId = await host.sandbox('terminal');
  });
  afterAll(() => host.dispose());

  const container = async (script: string, more: DeepPartial<ContainerConfig> = {}) => {
    const name = `c${(count += 1)}`;
    const config = { metadata: { name, attempt: 0 }, logPath: `${name}.log`, stdin: true, tty: true, ...more };
    const containerId = await host.run(sandboxId, script, config);
    const logPath = join(host.logDirectory, 'terminal', `${name}.log`);
    return { containerId, log: () => host.output(logPath), lines: () => host.logLines(logPath) };
  };
  const attach = async (containerId: string): Promise<CommandClient & { readonly seen: () => string }> => {
    const { url } = await host.runtime.attach({ containerId, tty: true, stdin: true, stdout: true });
    const client = await commandClient(url, ['stdin', 'stdout', 'resize']);
    let seen = '';
    client.streams.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    return { ...client, seen: () => seen };
  };
  const fileOf = (containerId: string, name: string): string =>
    readFileSync(join(host.stateDirectory, 'containers', containerId, 'io-1', name), 'utf8');

  it('has one, which is its only output, also in the log', async () => {
    const { containerId, log, lines } = await container(
      '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty && echo $TERM && echo bad >&2; exit 3',
    );
    const status = await host.exited(containerId);
    expect(status).toMatchObject({ exitCode: 3, reason: 'Error' });
    const device = fileOf(containerId, 'terminal').trim();
    expect(device).toMatch(/^\/dev\/pts\/\d+$/);
    expect(log()).toBe(`${device}\r\nxterm\r\nbad\r\n`);
    expect(new Set(lines().map(({ stream }) => stream))).toEqual(new Set(['stdout']));
  });

  it('has the type of terminal that its config names', async () => {
    const { containerId, log } = await container('echo $TERM', {
      envs: [{ key: 'TERM', value: Buffer.from('vt100') }],
    });
    await host.exited(containerId);
    expect(log()).toBe('vt100\r\n');
  });

  it('stays silent without an input, and does not end', async () => {
    const { containerId, log } = await container('echo begins; read line; echo over', { stdin: false });
    await eventually('it waits', () => log() === 'begins\r\n');
    expect((await host.status(containerId)).state).toBe('CONTAINER_RUNNING');
    await expect(host.runtime.attach({ containerId, tty: true, stdin: true, stdout: true })).rejects.toMatchObject({
      code: 9,
    });
    await host.runtime.stopContainer({ containerId, timeout: 0n });
    expect(await host.exited(containerId)).toMatchObject({ exitCode: 137 });
    expect(log()).toBe('begins\r\n');
  });

  it('is shared by clients one after the other, over a killed runtime, with the sizes that they set', async () => {
    // For a terminal it does not matter that the input is for one client.
    const { containerId } = await container('stty -echo; exec sh', { stdinOnce: true });
    const first = await attach(containerId);
    first.streams.resize?.write('{"Width":101,"Height":31}\n');
    first.streams.stdin?.write('until [ "$(stty size)" = "31 101" ]; do sleep 0.02; done; echo si""zed\r');
    await eventually('the size is set', () => first.seen().includes('sized'));
    first.streams.stdin?.end();
    expect(JSON.parse(await first.ended)).toEqual({ metadata: {}, status: 'Success' });

    await host.kill('SIGKILL');
    await host.start();
    const second = await attach(containerId);
    second.streams.stdin?.write('trap "stty size" WINCH; stty size; echo rea""dy\r');
    await eventually('the size is that of the first', () => /31 101\r\n[^]*ready/.test(second.seen()));
    second.streams.resize?.write('{"Width":77,"Height":21}\n');
    second.streams.stdin?.write('until [ "$(stty size)" = "21 77" ]; do sleep 0.02; done; exit 6\r');
    expect(JSON.parse(await second.ended)).toEqual({ metadata: {}, status: 'Success' });
    expect((await host.exited(containerId)).exitCode).toBe(6);
    await eventually('no process of it is left', () => processesWith(containerId).length === 0);
  });

  it('passes an interrupt on to the program in the foreground', async () => {
    const { containerId, log } = await container(
      'trap "echo interrupted; exit 9" INT; echo on; while :; do sleep 1; done',
    );
    await eventually('it runs', () => log() === 'on\r\n');
    const client = await attach(containerId);
    client.streams.stdin?.write('\u0003');
    expect(JSON.parse(await client.ended)).toMatchObject({ status: 'Success' });
    expect((await host.exited(containerId)).exitCode).toBe(9);
    expect(log()).toMatch(/interrupted\r\n$/);
  });

  it('sends a stop to the program itself', async () => {
    const { containerId, log } = await container(
      'trap "echo stopped; exit 5" TERM; echo on; while :; do sleep 0.1; done',
    );
    await eventually('it runs', () => log() === 'on\r\n');
    await host.runtime.stopContainer({ containerId, timeout: 60n });
    expect(await host.status(containerId)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 5 });
    expect(log()).toBe('on\r\nstopped\r\n');
  });

  it('reports a program that cannot be run', async () => {
    const containerId = await host.create(sandboxId, '', {
      metadata: { name: 'missing', attempt: 0 },
      command: ['no-such-program'],
      tty: true,
    });
    await expect(host.runtime.startContainer({ containerId })).rejects.toMatchObject({
      details: expect.stringContaining('exec: "no-such-program": executable file not found in $PATH') as string,
    });
    expect(await host.status(containerId)).toMatchObject({ exitCode: 128, reason: 'StartError' });
    await eventually('no process of it is left', () => processesWith(containerId).length === 0);
  });

  // Another user cannot give it away.
  if (uid === undefined) {
    it.skipIf(!isRoot)('belongs to the user of the container', async () => {
      const { containerId, log } = await container('echo one > /dev/tty; echo two > "$(tty)"', {
        linux: { securityContext: { runAsUser: { value: 65533n } } },
      });
      expect((await host.exited(containerId)).exitCode).toBe(0);
      expect(log()).toBe('one\r\ntwo\r\n');
    });
  }
});

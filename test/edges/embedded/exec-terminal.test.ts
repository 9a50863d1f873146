import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';
import { commandClient, type CommandClient } from './streaming-client.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

describe.each(users)('Exec with a terminal, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let containerId: string;
  beforeAll(async () => {
    await host.start();
    containerId = await host.run(await host.sandbox('terminal'), 'exec sleep 100000');
  });
  afterAll(() => host.dispose());

  const start = async (script: string, stdin = true): Promise<CommandClient & { readonly seen: () => string }> => {
    const wanted = { tty: true, stdin, stdout: true };
    const { url } = await host.runtime.exec({ containerId, cmd: ['/bin/sh', '-c', script], ...wanted });
    const client = await commandClient(url, [...(stdin ? ['stdin'] : []), 'stdout', 'resize']);
    let seen = '';
    client.streams.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    return { ...client, seen: () => seen };
  };

  it('gives the command a terminal of its own, which echoes', async () => {
    const { streams, ended, seen } = await start(
      'tty; echo $TERM; [ -t 0 ] && [ -t 2 ] && read line; echo "got $line"; exit 3',
    );
    await eventually('it runs', () => seen().includes('xterm\r\n'));
    expect(seen()).toMatch(/^\/dev\/pts\/\d+\r\nxterm\r\n$/);
    streams.stdin?.write('hello\r');
    await eventually('it has read the line', () => seen().includes('got '));
    expect(seen()).toMatch(/xterm\r\nhello\r\ngot hello\r\n$/);
    expect(JSON.parse(await ended)).toMatchObject({ details: { causes: [{ reason: 'ExitCode', message: '3' }] } });
  });

  it('can be opened by its name', async () => {
    const { ended, seen } = await start('echo one > /dev/tty; echo two > "$(tty)"', false);
    expect(JSON.parse(await ended)).toMatchObject({ status: 'Success' });
    await eventually('both are seen', () => seen() === 'one\r\ntwo\r\n');
  });

  it('has the size that the client sets, and programs are notified of a change', async () => {
    const { streams, seen, ended } = await start(
      // A read that the signal interrupts fails; the shell runs its trap then.
      'trap "stty size" WINCH; echo ready; line=; while [ "$line" != end ]; do read line; done',
    );
    await eventually('it runs', () => seen().includes('ready'));
    streams.resize?.write('{"Width":101,"Height":31}\n');
    await eventually('the size is set', () => /31 101/.test(seen()));
    streams.resize?.write('{"Width":77,"Height":');
    streams.resize?.write('21}');
    await eventually('the size is set again', () => /21 77/.test(seen()));
    streams.stdin?.write('end\r');
    expect(JSON.parse(await ended)).toMatchObject({ status: 'Success' });
  });

  it('passes an interrupt on to the command, and its exit code back', async () => {
    const { streams, seen, ended } = await start('echo ready; exec sleep 1000');
    await eventually('it runs', () => seen().includes('ready'));
    streams.stdin?.write('\u0003');
    expect(JSON.parse(await ended)).toMatchObject({ details: { causes: [{ reason: 'ExitCode', message: '130' }] } });
  });

  it('ends its input with that of the client', async () => {
    const { streams, seen, ended } = await start('cat; echo over');
    streams.stdin?.end('text\r');
    expect(JSON.parse(await ended)).toMatchObject({ status: 'Success' });
    await eventually('all is seen', () => seen().endsWith('over\r\n'));
  });

  it('reports a command that cannot be run', async () => {
    const { url } = await host.runtime.exec({ containerId, cmd: ['no-such-program'], tty: true, stdout: true });
    const { ended } = await commandClient(url, ['stdout', 'resize']);
    expect(JSON.parse(await ended)).toMatchObject({
      message:
        'Internal error occurred: error executing command in container: exec: "no-such-program": executable file not found in $PATH',
    });
  });

  it('leaves nothing when the client vanishes', async () => {
    const descriptors = (): number => readdirSync(`/proc/${host.pid}/fd`).length;
    const before = descriptors();
    const token = randomUUID();
    const { socket, seen } = await start(`trap "" HUP; echo ready; while :; do sleep 1; : ${token}; done`);
    await eventually('it runs', () => seen().includes('ready'));
    socket.destroy();
    await eventually('no process is left', () => processesWith(token).length === 0);
    await eventually('no relay is left', () => processesWith(`exec-stream-${host.pid}-`).length === 0);
    await eventually('no descriptor is left', () => descriptors() <= before);
  });
});

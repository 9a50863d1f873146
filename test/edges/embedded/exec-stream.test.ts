import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';
import { ask, commandClient, spdyClient, textOf, upgradeHeaders, type CommandClient } from './streaming-client.js';

const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

const SUCCESS = { metadata: {}, status: 'Success' };
const exited = (code: number, command: readonly string[]) => ({
  metadata: {},
  status: 'Failure',
  message: `command terminated with non-zero exit code: error executing command [${command.join(' ')}], exit code ${code}`,
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
});

describe.each(users)('Exec, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  let containerId: string;
  beforeAll(async () => {
    await host.start();
    const envs = [{ key: 'COLOUR', value: Buffer.from('green') }];
    containerId = await host.run(await host.sandbox('exec'), 'exec sleep 100000', { envs, workingDir: '/usr' });
  });
  afterAll(() => host.dispose());

  const urlOf = async (cmd: readonly string[], wanted: object): Promise<string> =>
    (await host.runtime.exec({ containerId, cmd: [...cmd], ...wanted })).url;
  const exec = async (script: string, types: readonly string[], protocols?: string): Promise<CommandClient> => {
    const wanted = Object.fromEntries(types.filter((type) => type !== 'resize').map((type) => [type, true]));
    return commandClient(await urlOf(['/bin/sh', '-c', script], wanted), types, protocols);
  };
  /** Descriptors of the runtime, and all that it started beside the container. */
  const used = () => ({
    descriptors: readdirSync(`/proc/${host.pid}/fd`).length,
    processes: processesWith(`exec-stream-${host.pid}-`).length,
  });

  it('passes both outputs on, and the end, in the surroundings of the container', async () => {
    const { streams, ended } = await exec('echo $COLOUR; pwd; echo problem >&2', ['stdout', 'stderr']);
    const texts = Promise.all([textOf(streams.stdout!), textOf(streams.stderr!)]);
    expect(await texts).toEqual(['green\n/usr\n', 'problem\n']);
    expect(JSON.parse(await ended)).toEqual(SUCCESS);
  });

  it.each([
    ['exit 3', 3],
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
  ])('reports the exit code of %s', async (script, code) => {
    const { ended } = await exec(script, ['stdout']);
    expect(JSON.parse(await ended)).toEqual(exited(code, ['/bin/sh', '-c', script]));
  });

  it('reports a command that cannot be run', async () => {
    const url = await urlOf(['no-such-program'], { stdout: true });
    const { ended } = await commandClient(url, ['stdout']);
    const message = 'error executing command in container: exec: "no-such-program": executable file not found in $PATH';
    expect(JSON.parse(await ended)).toEqual({
      metadata: {},
      status: 'Failure',
      message: `Internal error occurred: ${message}`,
      reason: 'InternalError',
      details: { causes: [{ message }] },
      code: 500,
    });
  });

  it('writes plain text for a client of an older protocol, and nothing on success', async () => {
    const failed = await exec('exit 4', ['stdout'], 'channel.k8s.io');
    expect(await failed.ended).toBe('error executing command [/bin/sh -c exit 4], exit code 4');
    expect(await (await exec('true', ['stdout'], 'v3.channel.k8s.io')).ended).toBe('');
  });

  it('gives the command the input until its end, and opens /dev/stdin and /dev/stdout by name', async () => {
    const { streams, ended } = await exec('cat /dev/stdin > /dev/stdout; echo end', ['stdin', 'stdout']);
    streams.stdin!.write('one\n');
    streams.stdin!.end('two\n');
    expect(await textOf(streams.stdout!)).toBe('one\ntwo\nend\n');
    expect(JSON.parse(await ended)).toEqual(SUCCESS);
  });

  // Only root can have a container of another user.
  if (isRoot && uid === undefined) {
    it('lets a user other than root open them by name, too', async () => {
      const asked = { linux: { securityContext: { runAsUser: { value: 65533n } } } };
      const ofUser = await host.run(await host.sandbox('of-user'), 'exec sleep 100000', asked);
      const cmd = ['/bin/sh', '-c', 'id -u; cat /dev/stdin > /dev/stdout; echo problem > /dev/stderr'];
      const wanted = { stdin: true, stdout: true, stderr: true };
      const { url } = await host.runtime.exec({ containerId: ofUser, cmd, ...wanted });
      const { streams, ended } = await commandClient(url, Object.keys(wanted));
      streams.stdin!.end('one\n');
      const texts = Promise.all([textOf(streams.stdout!), textOf(streams.stderr!)]);
      expect(await texts).toEqual(['65533\none\n', 'problem\n']);
      expect(JSON.parse(await ended)).toEqual(SUCCESS);
    });
  }

  it('gives a command without input an input that has ended', async () => {
    const { streams, ended } = await exec('cat; echo end', ['stdout']);
    expect(await textOf(streams.stdout!)).toBe('end\n');
    await ended;
  });

  it('ends although a daemon holds its output, and although input is left that no program reads', async () => {
    const { streams, ended } = await exec('sleep 1000 & echo started; exit 2', ['stdin', 'stdout']);
    const written = new Promise((resolve) => streams.stdin!.write(Buffer.alloc(2_000_000), resolve));
    expect(await textOf(streams.stdout!)).toBe('started\n');
    expect(JSON.parse(await ended)).toMatchObject({ reason: 'NonZeroExitCode' });
    await written;
  });

  // These two take seconds.
  const once = (name: string, test: () => Promise<void>): void => {
    if (uid === undefined) it(name, test);
  };
  once('carries 100 MiB to the command and back, unchanged, in little memory', async () => {
    const before = used();
    const peak = (): number => Number(/^VmHWM:\s+(\d+)/m.exec(statusOf(host.pid))?.[1]);
    const peakBefore = peak();
    const { streams, ended } = await exec('cat', ['stdin', 'stdout']);
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    const block = randomBytes(1024 * 1024);
    const writing = (async () => {
      for (let count = 0; count < 100; count += 1) {
        block.writeUInt32BE(count);
        sent.update(block);
        await new Promise<void>((resolve) => streams.stdin!.write(Buffer.from(block), () => resolve()));
      }
      streams.stdin!.end();
    })();
    let bytes = 0;
    for await (const chunk of streams.stdout!) {
      bytes += (chunk as Buffer).length;
      received.update(chunk as Buffer);
    }
    await writing;
    expect(bytes).toBe(100 * 1024 * 1024);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    expect(JSON.parse(await ended)).toEqual(SUCCESS);
    // In KiB; a tenth of what went through.
    expect(peak() - peakBefore).toBeLessThan(64 * 1024);
    await eventually('nothing of it is left', () => used().descriptors <= before.descriptors);
  });

  it('kills the command and all that it started when the client vanishes', async () => {
    const before = used();
    const token = randomUUID();
    const { streams, socket } = await exec(`sh -c "while :; do sleep 1; done" ${token} & echo on; sleep 1000`, [
      'stdout',
    ]);
    expect(String(await new Promise((resolve) => streams.stdout!.once('data', resolve)))).toBe('on\n');
    socket.destroy();
    await eventually('no process is left', () => processesWith(token).length === 0);
    await eventually('no descriptor is left', () => used().descriptors <= before.descriptors);
    await eventually('no relay is left', () => used().processes === 0);
    expect((await host.status(containerId)).state).toBe('CONTAINER_RUNNING');
  });

  once('notices a client that vanishes while the command reads none of its input', async () => {
    const token = randomUUID();
    const { streams, socket } = await exec(`sleep 1000; : ${token}`, ['stdin', 'stdout']);
    const pid = await eventually('the command runs', () => processesWith(token)[0]);
    expect(pid).toBeGreaterThan(0);
    streams.stdin!.on('error', () => undefined).write(Buffer.alloc(64 * 1024 * 1024));
    await eventually('the runtime reads no more', () => socket.writableLength > 0 && streams.stdin!.writableLength > 0);
    socket.destroy();
    await eventually('no process is left', () => processesWith(token).length === 0);
  });

  it('takes a token once', async () => {
    const url = await urlOf(['true'], { stdout: true });
    expect(new URL(url)).toMatchObject({ protocol: 'http:', hostname: '127.0.0.1' });
    expect(new URL(url).pathname).toMatch(/^\/exec\/[\w-]{8}$/);
    const { ended } = await commandClient(url, ['stdout']);
    await ended;
    expect((await ask(url, upgradeHeaders('v4.channel.k8s.io'))).statusCode).toBe(404);
    const other = await urlOf(['true'], { stdout: true });
    expect((await ask(other.replace('/exec/', '/attach/'), upgradeHeaders('v4.channel.k8s.io'))).statusCode).toBe(404);
  });

  it('refuses requests that are no upgrade it knows', async () => {
    const url = () => urlOf(['true'], { stdout: true });
    expect(await ask(await url(), ['Connection: close'])).toMatchObject({
      statusCode: 400,
      body: 'unable to upgrade: missing upgrade headers in request\n',
    });
    expect((await ask(await url(), ['Connection: close'], 'PUT')).statusCode).toBe(405);
    expect(await ask(await url(), upgradeHeaders('').slice(0, 2))).toMatchObject({
      statusCode: 400,
      body: 'unable to upgrade: X-Stream-Protocol-Version is required\n',
    });
    const refused = await ask(await url(), upgradeHeaders('v9.channel.k8s.io'));
    expect(refused.statusCode).toBe(403);
    expect(refused.head.match(/X-Accepted-Stream-Protocol-Versions: .*/g)?.map((line) => line.trim())).toEqual(
      ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'].map(
        (name) => `X-Accepted-Stream-Protocol-Versions: ${name}`,
      ),
    );
  });

  it('takes the first protocol of the client that it knows', async () => {
    const { protocol, connection } = await spdyClient(
      await urlOf(['true'], { stdout: true }),
      'v9.channel.k8s.io, v2.channel.k8s.io,v4.channel.k8s.io',
    );
    expect(protocol).toBe('v2.channel.k8s.io');
    connection.destroy();
  });

  it('refuses streams that it does not expect, and the second of a type', async () => {
    const { connection } = await spdyClient(await urlOf(['true'], { stdout: true }), 'v4.channel.k8s.io');
    for (const type of ['resize', 'nonsense', '']) {
      const stream = connection.open(new Map([['streamtype', type]]));
      await new Promise((resolve) => stream.once('close', resolve));
    }
    const error = connection.open(new Map([['streamtype', 'error']]));
    const second = connection.open(new Map([['streamtype', 'error']]));
    await new Promise((resolve) => second.once('close', resolve));
    expect(error.destroyed).toBe(false);
    connection.open(new Map([['streamtype', 'stdout']])).resume();
    expect(JSON.parse(await textOf(error))).toEqual(SUCCESS);
  });

  it('answers hostile bytes with GOAWAY and closes', async () => {
    const { socket } = await spdyClient(await urlOf(['true'], { stdout: true }), 'v4.channel.k8s.io');
    socket.removeAllListeners('data');
    const answer = (async () => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      await new Promise((resolve) => socket.once('close', resolve));
      return Buffer.concat(chunks);
    })();
    socket.write(Buffer.from('GET / HTTP/1.1\r\n\r\n').map((byte) => byte | 0x80));
    expect((await answer).toString('hex')).toBe('80030007000000080000000000000001');
  });

  it('names what is wrong with a request', async () => {
    const call = (request: object) => host.runtime.exec({ containerId, cmd: ['true'], stdout: true, ...request });
    await expect(call({ containerId: '' })).rejects.toMatchObject({
      code: 3,
      details: 'missing required container_id',
    });
    await expect(call({ tty: true, stderr: true })).rejects.toMatchObject({
      code: 3,
      details: 'tty and stderr cannot both be true',
    });
    await expect(call({ stdout: false })).rejects.toMatchObject({
      code: 3,
      details: 'one of stdin, stdout, or stderr must be set',
    });
    await expect(call({ containerId: 'x' })).rejects.toMatchObject({ code: 5 });
    await expect(call({ cmd: [] })).rejects.toMatchObject({ code: 3 });
  });
});

const statusOf = (pid: number): string => readFileSync(`/proc/${pid}/status`, 'utf8');

import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { freePort, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';

/** The channels of the protocol, by their numbers. */
const [STDIN, STDOUT, STATUS, SIZE] = [0, 1, 3, 4];

describe('attach through the kubelet API', () => {
  it('reaches the terminal of a container, also after a restart of the agent', async ({ daemon }) => {
    const port = await freePort();
    const open = ['--address', '127.0.0.1', '--port', String(port), '--anonymous-auth'];
    const start = async () => {
      const before = daemon.log.length;
      await daemon.start(...open, '--authorization-mode', 'AlwaysAllow');
      await eventually('the port is served', () => daemon.log.slice(before).includes('kubelet API is served'));
    };
    daemon.apply({ name: 'shell', containers: [{ script: 'stty -echo; exec sh', stdin: true, tty: true }] });
    await start();
    await daemon.reached('shell', 'CONTAINER_RUNNING');
    const attach = async () => {
      const path = `/attach/default/shell-${NODE_NAME}/main?input=1&output=1&tty=1`;
      const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, 'v4.channel.k8s.io', {
        rejectUnauthorized: false,
      });
      const seen = new Map<number, string>();
      socket.on('message', (message: Buffer) => {
        const channel = message[0] ?? -1;
        seen.set(channel, (seen.get(channel) ?? '') + message.subarray(1).toString());
      });
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      const send = (channel: number, content: string): void =>
        socket.send(Buffer.from([channel, ...Buffer.from(content)]));
      return { seen: (channel: number) => seen.get(channel) ?? '', send, closed, end: () => socket.close() };
    };

    // An agent that has just started does not know the pod yet.
    const attached = () => eventually('a client can attach', () => attach().catch(() => undefined));

    const first = await attached();
    first.send(SIZE, '{"Width":101,"Height":31}');
    first.send(STDIN, 'until [ "$(stty size)" = "31 101" ]; do sleep 0.02; done; x=kept; echo $((6*7))\r');
    await eventually('it is answered', () => first.seen(STDOUT).includes('42\r\n'));
    first.end();
    await first.closed;

    await daemon.kill('SIGKILL');
    await start();
    const second = await attached();
    second.send(STDIN, 'echo $x $(stty size); exit 0\r');
    await eventually('it is answered again', () => second.seen(STDOUT).includes('kept 31 101\r\n'));
    await second.closed;
    expect(JSON.parse(second.seen(STATUS))).toEqual({ metadata: {}, status: 'Success' });
  });
});

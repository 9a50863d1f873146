import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { EmbeddedNode } from './embedded-node.js';
import { type Input, kubectlCommand, kubectlMinor, runCommand } from './kubectl.js';
import { overCluster } from './missing.js';
import { sharedCluster } from './one-node.js';

const MIB = 2 ** 20;
/** Since this minor version kubectl opens WebSockets, unless a variable of its environment turns them off. */
const FIRST_WITH_WEBSOCKETS = 31;
const OVER_SPDY = ['KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false', 'KUBECTL_PORT_FORWARD_WEBSOCKETS=false'];
const OVER_WEBSOCKETS = ['KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true', 'KUBECTL_PORT_FORWARD_WEBSOCKETS=true'];

const ways = [
  { over: 'SPDY', env: OVER_SPDY, method: 'POST', other: 'GET' },
  ...(kubectlMinor() < FIRST_WITH_WEBSOCKETS
    ? []
    : [{ over: 'WebSockets', env: OVER_WEBSOCKETS, method: 'GET', other: 'POST' }]),
];

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const sumOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
};

overCluster(
  'kubectl, and the embedded runtime',
  () => {
    let node: EmbeddedNode;
    beforeAll(async () => {
      node = new EmbeddedNode(await sharedCluster(), 'embedded');
      await node.start();
      await node.runPod('web');
    });
    afterAll(async () => {
      await node.dispose();
      node.cluster.close();
    });

    describe.each(ways)('over $over', ({ over, env, method, other }) => {
      const commandOf = (...args: readonly string[]): readonly string[] => [
        'env',
        ...env,
        ...kubectlCommand(node),
        ...args,
      ];
      const kubectl = (args: readonly string[], input?: Input) => runCommand(commandOf(...args), input);
      /** The requests for commands that the agent has received by this method. */
      const requests = async (name: string): Promise<number> => {
        const line = new RegExp(`^kubelet_http_requests_total\\{method="${name}",path="exec",.*\\} (\\d+)$`, 'm');
        return Number(line.exec((await node.get('/metrics')).body)?.[1] ?? 0);
      };
      const script = (text: string): readonly string[] => ['exec', 'web', '--', 'sh', '-c', text];

      it('executes commands, with their output, their errors and their exit codes', async () => {
        const [own, others] = [await requests(method), await requests(other)];
        const failing = await kubectl(script('echo out; echo err >&2; exit 3'));
        expect({ ...failing, stdout: failing.stdout.toString() }).toEqual({
          ...{ code: 3, stdout: 'out\n' },
          stderr: expect.stringMatching(/^err\n(.*\n)?command terminated with exit code 3\n$/) as string,
        });
        expect(await kubectl(script('true'))).toMatchObject({ code: 0, stderr: '' });
        expect((await kubectl(script('kill -9 $$'))).code).toBe(137);
        expect([await requests(method), await requests(other)]).toEqual([own + 3, others]);
      });

      it('sends the whole input of a command, and gets the whole output', async () => {
        const input = randomBytes(10 * MIB);
        const { code, stdout } = await kubectl(['exec', '-i', 'web', '--', 'cat'], input);
        expect({ code, sum: sha256(stdout) }).toEqual({ code: 0, sum: sha256(input) });
      });

      it('executes a shell at a terminal, which changes its size with that of the client', async () => {
        const tty = join(node.directory, `tty-over-${over}`);
        const size = 'until [ "$(stty size)" = "$1" ]; do sleep 0.05; done; echo "$2"';
        const inside = `size() { ${size}; }; tty; size "31 97" small; size "40 120" large; read line; echo "got $line"; exit 4`;
        const quoted = commandOf('exec', '-it', 'web', '--', 'sh', '-c', inside).map((word) => `'${word}'`);
        const command = `stty rows 31 cols 97; tty >${tty}; exec ${quoted.join(' ')}`;
        const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: 'pipe' });
        try {
          let screen = '';
          const exit = once(child, 'exit');
          child.stdout.on('data', (part: Buffer) => (screen += part.toString()));
          await eventually('the terminal has the first size', () => screen.includes('small'));
          expect(screen).toContain('/dev/pts/');
          execFileSync('stty', ['-F', readFileSync(tty, 'utf8').trim(), 'rows', '40', 'cols', '120']);
          await eventually('it has the second one', () => screen.includes('large'));
          child.stdin.write('hello\r');
          expect(await exit).toEqual([4, null]);
          expect(screen).toContain('got hello');
        } finally {
          child.kill('SIGKILL');
        }
      });

      it('copies 100 MiB in both directions', async () => {
        const folder = join(node.directory, `files-over-${over}`);
        mkdirSync(folder);
        const [sent, there, received] = ['sent', 'there', 'received'].map((name) => join(folder, name)) as [
          string,
          string,
          string,
        ];
        writeFileSync(sent, randomBytes(100 * MIB));
        expect(await kubectl(['cp', sent, `web:${there}`])).toMatchObject({ code: 0 });
        expect(await kubectl(['cp', `web:${there}`, received])).toMatchObject({ code: 0 });
        const sum = await sumOf(sent);
        expect([await sumOf(there), await sumOf(received)]).toEqual([sum, sum]);
      });

      it('attaches to a shell, and passes its input on to the end', async () => {
        const pod = `shell-over-${over.toLowerCase()}`;
        await node.runPod(pod, { script: 'exec sh', stdin: true, stdinOnce: true });
        const { code, stdout } = await kubectl(['attach', '-i', pod], 'echo $((6*7)); sleep 0.1; echo last');
        expect([code, stdout.toString()]).toEqual([0, '42\nlast\n']);
      });

      it('forwards fifty connections at a time, each to the end of its input', async () => {
        // A pod of the embedded runtime has the network of this machine.
        const server = createServer({ allowHalfOpen: true }, (socket) => {
          socket.on('error', () => undefined);
          socket.pipe(socket);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const [program = '', ...args] = commandOf('port-forward', 'pod/web', `:${port}`);
        const forward = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
        try {
          const [line] = (await once(createInterface(forward.stdout), 'line')) as [string];
          const [, local] = /127\.0\.0\.1:(\d+)/.exec(line) ?? [];
          const exchange = async (bytes: Buffer): Promise<string> => {
            const socket = connect({ host: '127.0.0.1', port: Number(local), allowHalfOpen: true });
            socket.end(bytes);
            const chunks: Buffer[] = [];
            for await (const chunk of socket) chunks.push(chunk as Buffer);
            return sha256(Buffer.concat(chunks));
          };
          const inputs = Array.from({ length: 50 }, () => randomBytes(200_000));
          expect(await Promise.all(inputs.map(exchange))).toEqual(inputs.map(sha256));
        } finally {
          forward.kill('SIGKILL');
          server.close();
        }
      });
    });
  },
  { alone: true },
);

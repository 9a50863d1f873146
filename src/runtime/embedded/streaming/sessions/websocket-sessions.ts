import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { EMPTY, fromEvent, merge, takeUntil, tap, type Observable, type SchedulerLike } from 'rxjs';
import { WebSocketServer, type WebSocket } from 'ws';
import { statusText } from '../command-status.js';
import { forwardErrorText, forwardPort, type ForwardTarget } from './forward-port.js';
import { headerOf, refuse } from '../http-answers.js';
import { endAll, type RemoteStreams, type WantedStreams } from '../remote-streams.js';
import { IDLE_MS, probePaused, untilIdle } from './session-timing.js';
import { terminalSizesOf } from '../terminal-size.js';
import { WebSocketChannels } from './websocket-channels.js';

/** Source: k8s.io/kubelet/pkg/cri/streaming/remotecommand/websocket.go; v5 is that of k8s.io/client-go. */
const COMMAND_PROTOCOLS = [
  '',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'v5.channel.k8s.io',
];
/** Source: k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go */
const FORWARD_PROTOCOLS = ['', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'];
/** The limit of one message; clients send some ten KiB. */
const MESSAGE_MAX_BYTES = 1024 * 1024;

const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];

const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MESSAGE_MAX_BYTES });

interface WebSocketSession {
  readonly channels: WebSocketChannels;
  readonly protocol: string;
  /** Ends the session when it is idle or its client has gone. Completes with the session. */
  readonly watch$: Observable<unknown>;
}

/** Resolves with the session; undefined if the request was refused. */
const accepted = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { supported, scheduler }: { supported: readonly string[]; scheduler: SchedulerLike },
): Promise<WebSocketSession | undefined> => {
  const offered = (headerOf(request, 'sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const protocol = offered.find((name) => supported.includes(name));
  if (protocol === undefined) {
    const message = `unable to upgrade: client supports [${offered.join(' ')}], server accepts [${supported.filter(Boolean).join(' ')}]`;
    refuse(socket, { statusCode: 403, message });
    return Promise.resolve(undefined);
  }
  return new Promise((resolve) => {
    // A request that is no right one is answered and ended by the package.
    socket.once('close', () => resolve(undefined));
    // The header is that of the first offer that is known; `ws` confirms the first of all by itself.
    if (protocol !== '') request.headers['sec-websocket-protocol'] = protocol;
    server.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
      let lastMs = scheduler.now();
      const framing = { base64: protocol.includes('base64'), halfClose: protocol.startsWith('v5') };
      const channels = new WebSocketChannels(webSocket, framing, () => (lastMs = scheduler.now()));
      const idle$ = untilIdle(() => lastMs, IDLE_MS, scheduler).pipe(tap({ complete: () => channels.destroy() }));
      const probes$ = probePaused(
        () => channels.isPaused,
        () => channels.ping(),
        scheduler,
      );
      const watch$ = merge(idle$, probes$).pipe(takeUntil(fromEvent(channels.gone, 'abort')));
      resolve({ channels, protocol, watch$ });
    });
  });
};

/**
 * The streams of a command over a WebSocket; undefined if the request was refused. An empty message shows the client
 * that they are open.
 */
export const webSocketCommand = async (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { wanted, scheduler }: { readonly wanted: WantedStreams; readonly scheduler: SchedulerLike },
): Promise<RemoteStreams | undefined> => {
  const session = await accepted(request, socket, head, { supported: COMMAND_PROTOCOLS, scheduler });
  if (!session) return undefined;
  const { channels, protocol, watch$ } = session;
  watch$.subscribe();
  const open = (isWanted: boolean, number: number | undefined): Duplex | undefined =>
    isWanted && number !== undefined ? channels.open(number) : undefined;
  const [stdin, stdout, stderr] = [open(wanted.stdin, STDIN), open(wanted.stdout, STDOUT), open(wanted.stderr, STDERR)];
  const [error, resize] = [open(true, ERROR), open(wanted.tty, RESIZE)];
  const outputs = [stdout, stderr, error].flatMap((stream) => stream ?? []);
  for (const output of outputs) output.resume();
  outputs[0]?.write(Buffer.alloc(0));
  return {
    stdin,
    stdout,
    stderr,
    size$: resize ? terminalSizesOf(resize) : EMPTY,
    gone: channels.gone,
    finish: async (failure) => {
      const text = statusText(failure, /^v[45]\./.test(protocol));
      await endAll(outputs.filter((stream) => stream !== error));
      if (text !== '') error?.write(text);
      await endAll(outputs);
      channels.end();
    },
  };
};

/**
 * Forwards the ports of a request over a WebSocket, each on two channels that begin with its number; resolves when all
 * have ended.
 */
export const webSocketForward = async (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  options: { readonly target: ForwardTarget; readonly ports: readonly number[]; readonly scheduler: SchedulerLike },
): Promise<void> => {
  const { target, ports, scheduler } = options;
  const session = await accepted(request, socket, head, { supported: FORWARD_PROTOCOLS, scheduler });
  if (!session) return;
  const { channels, watch$ } = session;
  watch$.subscribe();
  await Promise.all(
    ports.map(async (port, index) => {
      const [data, error] = [channels.open(2 * index), channels.open(2 * index + 1)];
      const number = Buffer.alloc(2);
      number.writeUInt16LE(port);
      data.write(number);
      error.write(number);
      error.resume();
      try {
        await forwardPort(target, port, data, channels.gone);
      } catch (failure) {
        error.write(forwardErrorText(port, target.sandboxId, failure));
      }
      await endAll([data, error]);
    }),
  );
  channels.end();
};

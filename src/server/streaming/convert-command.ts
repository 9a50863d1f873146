import type { Socket } from 'node:net';
import { type Duplex, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { forkJoin, fromEvent, Observable, type SchedulerLike, Subject, take } from 'rxjs';
import type { WebSocket } from 'ws';
import { convertedStatus } from './converted-status.js';
import { type HalfClosed, streamEnd } from './stream-end.js';

/** The one protocol of commands over a WebSocket that is converted: a client of it can end its input alone. */
export const CONVERTED_PROTOCOL = 'v5.channel.k8s.io';

/** The protocols over SPDY with which the runtime is asked then, the best one first. */
export const COMMAND_PROTOCOLS: readonly string[] = [
  ...[CONVERTED_PROTOCOL, 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'],
];

/** The client's side of a connection over SPDY. */
export interface SpdyClient {
  readonly open: (headers: ReadonlyMap<string, string>) => Duplex;
}

/** Speaks SPDY over a connection. The streams that the peer has ended, and all at the end of the connection, end behind their data. */
export type OpenSpdy = (connection: Duplex) => SpdyClient;

/** The streams of a command, as the runtime was asked for them. */
export interface CommandStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ConvertedCommand {
  /** Has the protocol `CONVERTED_PROTOCOL`. */
  readonly client: WebSocket;
  /** The connection to the runtime, which has chosen this protocol over SPDY. */
  readonly server: Socket;
  readonly protocol: string;
  readonly streams: CommandStreams;
  readonly openSpdy: OpenSpdy;
  readonly scheduler: SchedulerLike;
}

const [STDIN, STDOUT, STDERR, ERROR, RESIZE, HALF_CLOSE] = [0, 1, 2, 3, 4, 255];

/**
 * Connects the channels of a WebSocket with the streams of SPDY from subscribing to unsubscribing, which closes both connections.
 * A client is read as fast as the runtime takes its input, and the other way round. After the last output the client receives the
 * status, and the WebSocket is closed. If the client disconnects, the connection to the runtime ends behind what was written to it.
 *
 * Emits: once, when one side has ended. Ends: as `streamEnd`.
 * Source: staging/src/k8s.io/apiserver/pkg/util/proxy/streamtranslator.go, websocket.go
 */
export const convertCommand = (command: ConvertedCommand): Observable<HalfClosed> =>
  new Observable((subscriber) => {
    const { client, server, protocol, streams, openSpdy, scheduler } = command;
    const flushed$ = new Subject<void>();
    const closed$ = forkJoin([client, server].map((side) => fromEvent(side, 'close').pipe(take(1))));
    const end = streamEnd({ flushed$, closed$, scheduler }).subscribe(subscriber);

    const spdy = openSpdy(server);
    const open = (type: string): Duplex => spdy.open(new Map([['streamtype', type]]));
    // The order of the kubelet's client.
    const error = open('error');
    const stdin = streams.stdin ? open('stdin') : undefined;
    const outputs = ([STDOUT, STDERR] as const).flatMap((channel) => {
      if (!(channel === STDOUT ? streams.stdout : streams.stderr)) return [];
      const output = open(channel === STDOUT ? 'stdout' : 'stderr').pipe(sender(client, channel));
      return [finished(output)];
    });
    const resize = streams.tty && /^v[345]\./.test(protocol) ? open('resize') : undefined;

    // An empty message shows the client that the streams are open.
    send(client, streams.stdout ? STDOUT : streams.stderr ? STDERR : ERROR, Buffer.alloc(0));
    client.on('message', (message: Buffer) => {
      if (message[0] === HALF_CLOSE) return message[1] === STDIN ? void stdin?.end() : undefined;
      const stream = message[0] === STDIN ? stdin : message[0] === RESIZE ? resize : undefined;
      if (stream?.writable && !stream.write(message.subarray(1))) client.pause();
    });
    for (const stream of [stdin, resize]) {
      for (const event of ['drain', 'close']) stream?.on(event, () => client.resume());
    }
    client.once('close', () => server.end());
    server.once('finish', () => flushed$.next());

    Promise.all([text(error), ...outputs]).then(
      ([report]) => {
        send(client, ERROR, Buffer.from(convertedStatus(report, protocol)), () => flushed$.next());
        client.close(1000);
      },
      // The client has gone.
      () => flushed$.next(),
    );
    return () => {
      end.unsubscribe();
      server.destroy();
      client.terminate();
    };
  });

const send = (
  client: WebSocket,
  channel: number,
  data: Buffer,
  done: (error?: Error) => void = () => undefined,
): void => client.send(Buffer.concat([Buffer.from([channel]), data]), { binary: true }, done);

/** Sends what is written to it, as fast as the client reads. */
const sender = (client: WebSocket, channel: number): Writable =>
  new Writable({ write: (data: Buffer, _, done) => send(client, channel, data, done) }).on('error', () => undefined);

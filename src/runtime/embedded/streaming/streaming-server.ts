import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { firstValueFrom, from, lastValueFrom, race, type SchedulerLike, timer } from 'rxjs';
import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { mayFail } from '../machine/machine.js';
import type { CommandFailure } from './command-status.js';
import { headerOf, refuse, upgradeToSpdy } from './http-answers.js';
import { COMMAND_PROTOCOLS, FORWARD_PROTOCOLS, negotiate } from './negotiate.js';
import { PendingRequests } from './pending-requests.js';
import type { RemoteStreams, WantedStreams } from './remote-streams.js';
import type { ForwardTarget } from './sessions/forward-port.js';
import { spdyCommand } from './sessions/spdy-command.js';
import { spdyForward } from './sessions/spdy-forward.js';
import { webSocketCommand, webSocketForward } from './sessions/websocket-sessions.js';

/** A request of the CRI, which the client of its URL continues. */
export type StreamRequest = CommandRequest | ForwardRequest;

export interface CommandRequest {
  readonly kind: 'exec' | 'attach';
  readonly wanted: WantedStreams;
  /** Resolves with the end. Errors: it could not be run. */
  readonly run: (streams: RemoteStreams) => Promise<CommandFailure | undefined>;
}

interface ForwardRequest {
  readonly kind: 'portforward';
  readonly target: ForwardTarget;
  /** The ports of a client without streams of its own for each connection. */
  readonly ports: readonly number[];
}

const FAILED = {
  exec: 'error executing command in container',
  attach: 'error attaching to container',
} as const;
const ENDED = 'the container runtime ends, and its sessions with it; the container runs on';
/** The time that clients have for closing their sessions when the runtime ends. */
const CLOSE_MS = 1_000;
const TEXT_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' };
const NOT_FOUND = { statusCode: 404, message: '404 page not found' };
const NOT_AN_UPGRADE = { statusCode: 400, message: 'unable to upgrade: missing upgrade headers in request' };
const NOT_ALLOWED = { statusCode: 405, message: '405: Method Not Allowed' };

/**
 * The HTTP server behind the URLs of Exec, Attach and PortForward. Listens on a free port of 127.0.0.1 from the first
 * URL on. Source: k8s.io/kubelet/pkg/cri/streaming/server.go
 */
export class StreamingServer {
  private readonly pending: PendingRequests<StreamRequest>;
  private readonly server = createServer();
  private readonly sockets = new Set<Duplex>();
  private readonly sessions = new Set<Promise<void>>();
  /** One of each session, for the end of the runtime. */
  private readonly ends = new Set<AbortController>();
  private listening: Promise<number> | undefined;

  constructor(
    private readonly options: {
      readonly random: (bytes: number) => Buffer;
      readonly scheduler: SchedulerLike;
      readonly log: Logger;
    },
  ) {
    this.pending = new PendingRequests(options.random, options.scheduler);
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { statusCode, message } = this.requestOf(request).refusal ?? NOT_AN_UPGRADE;
      response.writeHead(statusCode, { ...TEXT_HEADERS, 'Content-Length': Buffer.byteLength(message) + 1 });
      response.end(`${message}\n`);
    });
    this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.upgrade(request, socket, head),
    );
    // A connection that cannot be accepted must not end the runtime with its containers.
    this.server.on('error', (error) =>
      options.log.warn({ error: errorText(error) }, 'the server of streams has failed a connection'),
    );
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** The URL that the client of the request has to use, once and within a minute. Errors: RESOURCE_EXHAUSTED. */
  async urlFor(request: StreamRequest): Promise<string> {
    this.listening ??= this.listen();
    const port = await this.listening;
    return `http://127.0.0.1:${port}/${request.kind}/${this.pending.add(request)}`;
  }

  /** Ends all sessions with their commands, and says so to their clients; resolves when they have ended. */
  async close(): Promise<void> {
    this.server.close();
    for (const end of this.ends) end.abort(new Error(ENDED));
    const closed = [...this.sockets].map((socket) => once(socket, 'close'));
    await firstValueFrom(race(from(Promise.allSettled(closed)), timer(CLOSE_MS, this.options.scheduler)));
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(this.sessions);
  }

  /** Errors: no port is free. A later call tries again. */
  private async listen(): Promise<number> {
    try {
      mayFail('connect', 'listen', '127.0.0.1');
      await new Promise<void>((resolve, reject) => {
        this.server.once('error', reject);
        this.server.listen(0, '127.0.0.1', () => {
          this.server.off('error', reject);
          resolve();
        });
      });
      return (this.server.address() as AddressInfo).port;
    } catch (error) {
      this.listening = undefined;
      throw error;
    }
  }

  private requestOf({
    url = '',
    method,
  }: IncomingMessage): Partial<{ found: StreamRequest; refusal: typeof NOT_FOUND }> {
    const [, kind, token] = /^\/(exec|attach|portforward)\/([\w-]+)(?:\?.*)?$/.exec(url) ?? [];
    if (token === undefined) return { refusal: NOT_FOUND };
    if (method !== 'GET' && method !== 'POST') return { refusal: NOT_ALLOWED };
    const found = this.pending.take(token);
    return found?.kind === kind && found ? { found } : { refusal: NOT_FOUND };
  }

  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.setNoDelay(true);
    const { found, refusal } = this.requestOf(request);
    if (!found) return refuse(socket, refusal ?? NOT_FOUND);
    const lost = found.kind === 'portforward' ? problemOf(found.target) : undefined;
    if (lost !== undefined) return refuse(socket, { statusCode: 500, message: lost });
    const protocol = (headerOf(request, 'upgrade') ?? '').toLowerCase();
    if (protocol === 'websocket') return this.track(this.webSocket(found, request, socket, head));
    if (protocol !== 'spdy/3.1') return refuse(socket, NOT_AN_UPGRADE);
    const wanted = headerOf(request, 'x-stream-protocol-version');
    if (found.kind === 'portforward') {
      const choice = negotiate(wanted, FORWARD_PROTOCOLS);
      if ('refusal' in choice) return refuse(socket, choice.refusal);
      upgradeToSpdy(socket, head, choice.protocol);
      return this.track(this.forward(found, socket));
    }
    const choice = negotiate(wanted, COMMAND_PROTOCOLS);
    if ('refusal' in choice) return refuse(socket, choice.refusal);
    upgradeToSpdy(socket, head, choice.protocol);
    const { scheduler } = this.options;
    this.track(
      spdyCommand(socket, { wanted: found.wanted, protocol: choice.protocol, scheduler }).then((streams) =>
        this.command(found, streams),
      ),
    );
  }

  private async webSocket(found: StreamRequest, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { scheduler } = this.options;
    if (found.kind === 'portforward')
      return this.untilEnd(found.target.over, (over) =>
        webSocketForward(request, socket, head, { ...found, target: { ...found.target, over }, scheduler }),
      );
    const streams = await webSocketCommand(request, socket, head, { wanted: found.wanted, scheduler });
    if (streams) await this.command(found, streams);
  }

  private async command(request: CommandRequest, streams: RemoteStreams): Promise<void> {
    const failure = await this.untilEnd(streams.gone, async (gone) => {
      try {
        const failed = await request.run({ ...streams, gone });
        if (!isEnded(gone)) return failed;
      } catch (error) {
        if (!isEnded(gone)) return failureOf(request, error);
      }
      return failureOf(request, gone.reason);
    });
    await streams.finish(failure);
  }

  private async forward({ target }: ForwardRequest, socket: Socket): Promise<void> {
    const { scheduler } = this.options;
    await this.untilEnd(target.over, (over) =>
      lastValueFrom(spdyForward(socket, { target: { ...target, over }, scheduler }).session$, {
        defaultValue: undefined,
      }),
    );
  }

  /** Does it with a signal that fires with the given one, and at the end of the runtime. */
  private async untilEnd<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const end = new AbortController();
    const pass = (): void => end.abort(signal.reason);
    this.ends.add(end);
    // Not by AbortSignal.any, which keeps something of each session in the signal of a pod, in some versions of Node for ever.
    signal.addEventListener('abort', pass);
    try {
      if (signal.aborted) pass();
      return await work(end.signal);
    } finally {
      signal.removeEventListener('abort', pass);
      this.ends.delete(end);
    }
  }

  private track(session: Promise<void>): void {
    const tracked = session
      .catch((error: unknown) => this.options.log.debug({ error: errorText(error) }, 'a streaming session failed'))
      .finally(() => this.sessions.delete(tracked));
    this.sessions.add(tracked);
  }
}

const isEnded = ({ aborted, reason }: AbortSignal): boolean => aborted && errorText(reason) === ENDED;

const failureOf = ({ kind }: CommandRequest, error: unknown): CommandFailure => ({
  kind: 'error',
  message: `${FAILED[kind]}: ${errorText(error)}`,
});

/** Why the pod cannot be reached; undefined while it can be. */
const problemOf = ({ requireReady }: ForwardTarget): string | undefined => {
  try {
    requireReady();
    return undefined;
  } catch (error) {
    return errorText(error);
  }
};

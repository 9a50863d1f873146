import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  endWith,
  forkJoin,
  fromEvent,
  ignoreElements,
  merge,
  Observable,
  type SchedulerLike,
  switchMap,
  take,
  takeWhile,
  throwError,
} from 'rxjs';
import { echoRefusal } from './echo-refusal.js';
import { type HalfClosed, streamEnd } from './stream-end.js';
import { UPGRADE_REQUIRED, UpgradeResponse } from './answer-upgrades.js';
import { spdyHeaders, VERSION_HEADER } from '../../model/server/spdy-tunnel.js';
import { dialUpgrade } from './dial-upgrade.js';

export interface ProxiedUpgrade {
  /** The URL of the stream, which the runtime has named. */
  readonly target: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** For a client whose WebSocket ends here. */
  readonly conversion: Conversion | undefined;
  readonly scheduler: SchedulerLike;
}

/** A WebSocket for which the runtime is asked for SPDY. */
export interface Conversion {
  /** The protocols over SPDY with which the runtime is asked. */
  readonly protocols: readonly string[];
  /** Accepts the client and connects it with the server, which has chosen this protocol, as `relay` does. */
  readonly join: (server: Socket, protocol: string) => Observable<HalfClosed>;
}

/**
 * Connects a client with a streaming server from subscribing to unsubscribing, which closes both connections. Bytes pass
 * unchanged in both directions, as fast as their reader reads. A refusal of the server is passed on. For a conversion the server is
 * asked for SPDY.
 *
 * Emits: once, when one side has ended and the other one has received all its bytes.
 * Errors, before the client has a reply: the server cannot be reached, or its reply is neither an upgrade nor a refusal; the
 * request is no upgrade.
 * Ends: when both sides are closed, and at the latest 5 s after one of them has ended.
 * Source: staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go, staging/src/k8s.io/apiserver/pkg/util/proxy/streamtunnel.go
 */
export const proxyUpgrade = (options: ProxiedUpgrade): Observable<HalfClosed> => {
  const { target, request, response, conversion, scheduler } = options;
  if (!(response instanceof UpgradeResponse)) return throwError(() => new Error(UPGRADE_REQUIRED));
  const asked = conversion
    ? { method: 'POST', rawHeaders: [...spdyHeaders(request.rawHeaders, conversion.protocols)], socket: request.socket }
    : request;
  return dialUpgrade(target, asked).pipe(
    switchMap((dialed) =>
      (dialed.kind === 'upgraded'
        ? conversion
          ? conversion.join(dialed.connection, chosenProtocol(dialed.reply) ?? conversion.protocols[0] ?? '')
          : relay(acceptedClient(response, dialed.reply), dialed.connection, scheduler)
        : echo(dialed.reply, response, scheduler)
      ).pipe(endWith('ended' as const)),
    ),
    // The end closes the connection to the server, too.
    takeWhile((value) => value !== 'ended'),
  );
};

const chosenProtocol = ({ headers }: IncomingMessage): string | undefined => {
  const chosen = headers[VERSION_HEADER.toLowerCase()];
  return typeof chosen === 'string' ? chosen : undefined;
};

/** The bytes of the client after the reply. */
const acceptedClient = (response: UpgradeResponse, reply: IncomingMessage): Duplex => {
  const connection = response.takeOver();
  connection.write(headerOf(reply), 'latin1');
  return connection;
};

/** Passes bytes in both directions from subscribing to unsubscribing, which closes both sides. */
export const relay = (client: Duplex, server: Duplex, scheduler: SchedulerLike): Observable<HalfClosed> =>
  new Observable((subscriber) => {
    const on = (stream: Duplex, event: string) => fromEvent(stream, event).pipe(take(1));
    const end = streamEnd({
      flushed$: merge(on(client, 'finish'), on(server, 'finish')),
      closed$: forkJoin([on(client, 'close'), on(server, 'close')]),
      scheduler,
    }).subscribe(subscriber);
    client.pipe(server);
    server.pipe(client);
    // A broken connection does not end its pipe. No reader is left for later bytes of the client, but their end has to be read.
    server.once('close', () => client.end().resume());
    client.once('close', () => server.end());
    return () => {
      end.unsubscribe();
      server.destroy();
      client.destroy();
    };
  });

/** The header as the server has sent it. */
const headerOf = ({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage): string => {
  const lines = [`HTTP/${httpVersion} ${statusCode} ${statusMessage}`];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
};

/** Headers of the connection to the server, and not of the reply. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'];

const echo = (refusal: IncomingMessage, response: ServerResponse, scheduler: SchedulerLike): Observable<never> => {
  const { statusCode = 0, statusMessage = '', rawHeaders } = refusal;
  if (statusCode < 400) return throwError(() => new Error(`invalid upgrade response: status code ${statusCode}\n`));
  const copy$ = new Observable<never>((subscriber) => {
    const ended = merge(...['finish', 'close'].map((event) => fromEvent(response, event)))
      .pipe(take(1), ignoreElements())
      .subscribe(subscriber);
    const kept = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 && !OF_CONNECTION.includes(name.toLowerCase()) ? [name, rawHeaders[index + 1]!] : [],
    );
    response.writeHead(statusCode, statusMessage, kept);
    refusal.on('error', () => response.destroy());
    refusal.pipe(response);
    return () => {
      ended.unsubscribe();
      if (!response.writableFinished) response.destroy();
    };
  });
  return echoRefusal(copy$, scheduler);
};

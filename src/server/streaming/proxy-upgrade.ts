import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  endWith,
  forkJoin,
  fromEvent,
  ignoreElements,
  merge,
  Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  throwError,
} from 'rxjs';
import { echoRefusal } from './echo-refusal.js';
import { streamEnd } from './stream-end.js';
import { UpgradeResponse } from './answer-upgrades.js';
import { spdyHeaders, tunnelName, VERSION_HEADER } from '../../model/server/spdy-tunnel.js';
import { dialUpgrade } from './dial-upgrade.js';
import { tunnelClient } from './tunnel-client.js';

export interface ProxiedUpgrade {
  /** The URL of the stream, which the runtime has named. */
  readonly target: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The protocols over SPDY of a client that sends SPDY in the messages of a WebSocket; empty for any other client. */
  readonly tunnelled: readonly string[];
  readonly scheduler: SchedulerLike;
}

/**
 * Connects a client with a streaming server from subscribing to unsubscribing, which closes both connections. Bytes pass
 * unchanged in both directions, as fast as their reader reads. A refusal of the server is passed on. For a tunnelled client the
 * server is asked for SPDY, and the client has a WebSocket with its bytes.
 *
 * Errors, before the client has a reply: the server cannot be reached, or its reply is neither an upgrade nor a refusal; the
 * request is no upgrade.
 * Ends: when both sides are closed, and at the latest 5 s after one of them has ended.
 * Source: staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go, staging/src/k8s.io/apiserver/pkg/util/proxy/streamtunnel.go
 */
export const proxyUpgrade = (options: ProxiedUpgrade): Observable<never> => {
  const { target, request, response, tunnelled, scheduler } = options;
  if (!(response instanceof UpgradeResponse)) return throwError(() => new Error('Upgrade request required\n'));
  const asked =
    tunnelled.length === 0
      ? request
      : { method: 'POST', rawHeaders: [...spdyHeaders(request.rawHeaders, tunnelled)], socket: request.socket };
  return dialUpgrade(target, asked).pipe(
    switchMap((dialed) =>
      (dialed.kind === 'upgraded'
        ? acceptedClient(options, response, dialed.reply).pipe(
            switchMap((client) => relay(client, dialed.connection, scheduler)),
          )
        : echo(dialed.reply, response, scheduler)
      ).pipe(endWith('ended')),
    ),
    // Closes the connection to the server, too.
    take(1),
    ignoreElements(),
  );
};

/** The bytes of the client after the reply. */
const acceptedClient = (
  { request, tunnelled: [first] }: ProxiedUpgrade,
  response: UpgradeResponse,
  reply: IncomingMessage,
): Observable<Duplex> => {
  const connection = response.takeOver();
  if (first === undefined) {
    connection.write(headerOf(reply), 'latin1');
    return of(connection);
  }
  const chosen = reply.headers[VERSION_HEADER.toLowerCase()];
  return tunnelClient({ request, connection, protocol: tunnelName(typeof chosen === 'string' ? chosen : first) });
};

const relay = (client: Duplex, server: Duplex, scheduler: SchedulerLike): Observable<never> =>
  new Observable<never>((subscriber) => {
    const on = (stream: Duplex, event: string) => fromEvent(stream, event).pipe(take(1));
    const end = streamEnd({
      flushed$: merge(on(client, 'finish'), on(server, 'finish')),
      closed$: forkJoin([on(client, 'close'), on(server, 'close')]),
      scheduler,
    }).subscribe(subscriber);
    client.pipe(server);
    server.pipe(client);
    // A broken connection does not end its pipe.
    server.once('close', () => client.end());
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

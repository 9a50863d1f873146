import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  throwError,
} from 'rxjs';
import { echoRefusal } from './echo-refusal.js';
import { streamEnd } from './stream-end.js';
import { UpgradeResponse } from './answer-upgrades.js';
import { dialUpgrade } from './dial-upgrade.js';

export interface ProxiedUpgrade {
  /** The URL of the stream, which the runtime has named. */
  readonly target: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly scheduler: SchedulerLike;
}

/**
 * Connects a client with a streaming server from subscribing to unsubscribing, which closes both connections. Bytes pass
 * unchanged in both directions, as fast as their reader reads. A refusal of the server is passed on.
 *
 * Errors, before the client has a reply: the server cannot be reached, or its reply is neither an upgrade nor a refusal; the
 * request is no upgrade.
 * Ends: when both sides are closed, and at the latest 5 s after one of them has ended.
 * Source: staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go
 */
export const proxyUpgrade = ({ target, request, response, scheduler }: ProxiedUpgrade): Observable<never> => {
  if (!(response instanceof UpgradeResponse)) return throwError(() => new Error('Upgrade request required\n'));
  return dialUpgrade(target, request).pipe(
    switchMap((dialed) =>
      (dialed.kind === 'upgraded'
        ? relay(response.takeOver(), dialed.connection, headerOf(dialed.reply), scheduler)
        : echo(dialed.reply, response, scheduler)
      ).pipe(endWith('ended')),
    ),
    // Closes the connection to the server, too.
    take(1),
    ignoreElements(),
  );
};

const relay = (client: Socket, server: Socket, header: string, scheduler: SchedulerLike): Observable<never> =>
  new Observable<never>((subscriber) => {
    const on = <T extends Socket>(socket: T, event: string) => fromEvent(socket, event).pipe(take(1));
    const end = streamEnd({
      flushed$: merge(on(client, 'finish'), on(server, 'finish')),
      closed$: forkJoin([on(client, 'close'), on(server, 'close')]),
      scheduler,
    }).subscribe(subscriber);
    client.write(header, 'latin1');
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

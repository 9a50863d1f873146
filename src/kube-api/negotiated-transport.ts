import { type Observable, of, Subscription, switchMap, tap } from 'rxjs';
import type { TLSSocket } from 'node:tls';
import type { Http1Transport } from './http1-transport.js';
import type { Http2Connection } from './http2-connection.js';
import type { HttpHandlers, TransportRequest, HttpTransport } from './http-transport.js';

export interface NegotiationPorts {
  /** Connects, and offers both versions. */
  readonly dial$: Observable<TLSSocket>;
  readonly http1: Http1Transport;
  readonly http2: (socket: TLSSocket) => Observable<Http2Connection>;
  /** Whether pings show that a connection with HTTP/2 is dead. */
  readonly hasPings: boolean;
  /** Called with the error of a connection that was in use. */
  readonly onBroken: (error: unknown) => void;
}

/** A request that waits for a connection. */
interface Waiting {
  readonly send: (over: Pick<HttpTransport, 'send'>) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Makes the connections whose version of HTTP the server chooses in the TLS handshake. With HTTP/2 all requests share one connection,
 * and there is another one while the server accepts no further request over it, or closes it. With HTTP/1.1 each request under way has a
 * connection; the next handshake after the last of them is closed may choose again.
 *
 * Source: golang.org/x/net/http2/client_conn_pool.go; the connections are limited by the server alone, as without
 *         StrictMaxConcurrentStreams.
 */
export const negotiatedTransport = ({ dial$, http1, http2, hasPings, onBroken }: NegotiationPorts): HttpTransport => {
  const open = new Set<Http2Connection>();
  const waiting = new Set<Waiting>();
  let connections = new Subscription();
  let isDialing = false;
  let isRetired = false;

  const usable = (): Pick<HttpTransport, 'send'> | undefined => {
    for (const connection of open) if (connection.hasRoom()) return connection;
    return http1.isOpen() ? http1 : undefined;
  };
  const sendWaiting = (): void => {
    for (const one of waiting) {
      const over = usable();
      if (!over) return dial();
      waiting.delete(one);
      one.send(over);
    }
  };
  const failWaiting = (error: unknown): void => {
    const failed = [...waiting];
    waiting.clear();
    for (const { fail } of failed) fail(error);
  };
  const dial = (): void => {
    if (isDialing) return;
    isDialing = true;
    let made: Http2Connection | undefined;
    const done = (): void => {
      if (made) open.delete(made);
    };
    const connected$ = dial$.pipe(
      switchMap((socket) => {
        if (socket.alpnProtocol === 'h2') return http2(socket);
        if (waiting.size > 0) http1.adopt(socket);
        else socket.destroy();
        return of(undefined);
      }),
      tap((connection) => {
        isDialing = false;
        made = connection;
        if (connection) open.add(connection);
        sendWaiting();
        if (isRetired) connection?.retire();
      }),
    );
    const subscription = connected$.subscribe({
      error: (error: unknown) => {
        done();
        if (made) return onBroken(error);
        isDialing = false;
        failWaiting(error);
      },
      complete: done,
    });
    connections.add(subscription);
  };
  const closeIdle = (): void => {
    for (const connection of open) connection.closeIfIdle();
  };
  const destroy = (): void => {
    const closed = connections;
    connections = new Subscription();
    isDialing = false;
    open.clear();
    closed.unsubscribe();
    http1.destroy();
    failWaiting(new Error('the connections were closed'));
  };
  return {
    send: (request: TransportRequest, handlers: HttpHandlers) => {
      const over = usable();
      if (over) return over.send(request, handlers);
      let cancel = (): void => undefined;
      const one: Waiting = {
        send: (found) => {
          try {
            cancel = found.send(request, handlers);
          } catch (error) {
            handlers.broken(error, 'lost');
          }
        },
        fail: (error) => handlers.broken(error, 'lost'),
      };
      waiting.add(one);
      dial();
      return () => {
        waiting.delete(one);
        cancel();
      };
    },
    closeIdle: () => {
      closeIdle();
      http1.closeIdle();
    },
    closeDoubtful: () => {
      if (!hasPings) return destroy();
      closeIdle();
      http1.closeDoubtful();
    },
    retire: () => {
      isRetired = true;
      for (const connection of open) connection.retire();
      http1.retire();
    },
    destroy,
  };
};

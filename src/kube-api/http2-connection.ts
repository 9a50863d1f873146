import { validateHeaderValue } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { BehaviorSubject, Observable, throwError, throwIfEmpty, timeout } from 'rxjs';
import { type ConnectionTiming, tendConnection } from '../streams/operators/tend-connection.js';
import { aborted, httpReply, type HttpHandlers, type TransportRequest, type RequestFate } from './http-transport.js';

const MIB = 2 ** 20;
/** The bytes that the server may send ahead of the reader. Source: golang.org/x/net/http2/transport.go transportDefaultStreamFlow */
const STREAM_WINDOW = 4 * MIB;
/** The same for all requests together. Source: golang.org/x/net/http2/transport.go transportDefaultConnFlow */
const CONNECTION_WINDOW = 2 ** 30;
/** The bookkeeping for hundreds of streams needs more than the 10 MB of Node.js, which refuses streams beyond its limit. */
const SESSION_MEMORY_MB = 1_000;
/** The longest headers of a reply: those of HTTP/1.1 in Node.js. */
const HEADER_BYTES = 16 * 1024;
/** The largest frame that is accepted: longer ones cost less, and the next reply waits for their end. */
const FRAME_BYTES = 64 * 1024;

export interface Http2Options {
  readonly url: URL;
  /** The time limit for the settings of the server, after the TLS handshake. */
  readonly settingsMs: number;
  readonly timing: ConnectionTiming;
}

/** A connection with HTTP/2. */
export interface Http2Connection {
  /** Whether another request can be sent: the server takes requests, and less of them run than it accepts at a time. */
  readonly hasRoom: () => boolean;
  readonly send: (request: TransportRequest, handlers: HttpHandlers) => () => void;
  /** Closes the connection as soon as it has no requests; it takes no other. */
  readonly retire: () => void;
  readonly closeIfIdle: () => void;
}

/**
 * Speaks HTTP/2 over a socket, whose owner it is. Emits the connection once the server has sent its settings. Unsubscribing closes it;
 * its requests fail.
 *
 * Errors: the connection broke, or a ping was not answered.
 * Ends:   the server has closed the connection, it was retired, or it was unused for the time of `timing`.
 */
export const http2Connection = (socket: TLSSocket, options: Http2Options): Observable<Http2Connection> => {
  const { settingsMs, timing } = options;
  return session(socket, options).pipe(
    timeout({
      first: settingsMs,
      scheduler: timing.scheduler,
      with: () => throwError(() => new Error(`no settings of HTTP/2 after ${settingsMs / 1_000} s`)),
    }),
    throwIfEmpty(() => new Error('the server has closed the connection')),
  );
};

const session = (socket: TLSSocket, { url, timing }: Http2Options): Observable<Http2Connection> =>
  new Observable((subscriber) => {
    const session = connect(url, {
      createConnection: () => socket,
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: {
        enablePush: false,
        initialWindowSize: STREAM_WINDOW,
        maxFrameSize: FRAME_BYTES,
        maxHeaderListSize: HEADER_BYTES,
      },
    });
    const { isUsed$, hasRoom, send, closeLast } = requestsOf(session, socket, url.host);
    const close = (): void => {
      session.close();
      closeLast();
    };
    session.on('error', (error) => subscriber.error(error));
    session.on('close', () => subscriber.complete());
    session.once('remoteSettings', () => {
      session.setLocalWindowSize(CONNECTION_WINDOW);
      subscriber.next({
        hasRoom,
        send,
        retire: close,
        closeIfIdle: () => !isUsed$.value && close(),
      });
    });
    const tended$ = isUsed$.pipe(
      tendConnection({ received: () => socket.bytesRead, ping: () => ping(session) }, timing),
    );
    const tended = tended$.subscribe({
      complete: close,
      error: (error: unknown) => session.destroy(error as Error),
    });
    return () => {
      tended.unsubscribe();
      session.destroy(aborted());
      socket.destroy();
    };
  });

const ping = (session: ClientHttp2Session): Observable<void> =>
  new Observable((subscriber) => {
    session.ping((error) => {
      if (error) return subscriber.error(error);
      subscriber.next();
      subscriber.complete();
    });
  });

interface SessionRequests extends Pick<Http2Connection, 'hasRoom' | 'send'> {
  readonly isUsed$: BehaviorSubject<boolean>;
  /** Closes a session that takes no requests and has none. Node.js may leave it open. */
  readonly closeLast: () => void;
}

/** The requests over one session. */
const requestsOf = (session: ClientHttp2Session, socket: TLSSocket, authority: string): SessionRequests => {
  const isUsed$ = new BehaviorSubject(false);
  /** The streams that exist. */
  let streams = 0;
  /** The requests without a whole reply. */
  let running = 0;
  let hasReplied = false;
  let lastProcessed = Infinity;
  const closeLast = (): void => {
    if (!session.closed || streams > 0) return;
    session.destroy();
    // Node.js waits for the other side, which may be dead.
    socket.destroySoon();
  };
  session.on('goaway', (code: number, lastStreamId: number) => {
    lastProcessed = lastStreamId;
    // Node.js ends a session with an error itself.
    if (code !== constants.NGHTTP2_NO_ERROR) return;
    session.close();
    closeLast();
  });

  const fateOf = (stream: ClientHttp2Stream, wasUsed: boolean): RequestFate => {
    const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    if (isRefused || (stream.id ?? Infinity) > lastProcessed) return 'unprocessed';
    return wasUsed && session.destroyed ? 'stale' : 'lost';
  };
  return {
    isUsed$,
    closeLast,
    hasRoom: () =>
      !session.closed &&
      !session.destroyed &&
      // A server that accepts none for now gets one, which waits.
      running < Math.max(session.remoteSettings.maxConcurrentStreams ?? Infinity, 1),
    send: ({ method, path, headers, content }, { reply, broken }) => {
      // Node.js checks the values for HTTP/1.1 only.
      for (const [name, value] of Object.entries(headers)) {
        for (const one of [value].flat()) validateHeaderValue(name, one);
      }
      const wasUsed = hasReplied;
      const stream = session.request(
        { ...headers, ':method': method, ':path': path, ':authority': authority },
        { endStream: content === undefined },
      );
      let isOver = false;
      let isRunning = true;
      streams += 1;
      running += 1;
      isUsed$.next(true);
      const end = (): void => {
        if (!isRunning) return;
        isRunning = false;
        running -= 1;
        isUsed$.next(running > 0);
      };
      const fail = (error: Error): void => {
        if (isOver) return;
        isOver = true;
        broken(error, fateOf(stream, wasUsed));
      };
      stream.on('error', fail);
      stream.on('end', end);
      stream.on('close', () => {
        end();
        fail(aborted());
        streams -= 1;
        closeLast();
      });
      stream.on('response', (received) => {
        hasReplied = true;
        if (isOver) return;
        isOver = true;
        const statusCode = received[':status'] ?? 0;
        // A stream that is reset, or whose connection is closed, ends without an error.
        reply(
          httpReply({ statusCode, headers: received, body: stream }, () =>
            stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : aborted(),
          ),
        );
      });
      if (content) stream.end(content);
      return () => {
        isOver = true;
        if (stream.closed) return;
        stream.close(constants.NGHTTP2_CANCEL);
        stream.destroy();
      };
    },
  };
};

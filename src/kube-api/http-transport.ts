import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A request in any version of HTTP. */
export interface TransportRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** `host` is added. */
  readonly headers: Record<string, string | string[]>;
  readonly content: Buffer | undefined;
}

/** A reply in any version of HTTP, from its headers on. */
export interface TransportReply {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /**
   * Calls `whole` after the last byte of the body, or `broken` if the body ends before; one of them, once, and at once if the body is over.
   */
  readonly onEnd: (whole: () => void, broken: (error: Error) => void) => void;
}

/**
 * The reason why a request has no reply. `unprocessed`: the server has not processed it and never will. `stale`: it was sent over a
 * connection that had been in use before, which may have been dead by then. `lost`: all other reasons.
 */
export type RequestFate = 'unprocessed' | 'stale' | 'lost';

/** One of the functions is called, once, and none after the request was cancelled. */
export interface HttpHandlers {
  readonly reply: (reply: TransportReply) => void;
  readonly broken: (error: unknown, fate: RequestFate) => void;
}

/** Connections with one version of HTTP, or with the version that the server chooses. */
export interface HttpTransport {
  /** Sends a request. Returns a function that cancels it, with no effect on other requests. Errors: throws on an invalid header. */
  readonly send: (request: TransportRequest, handlers: HttpHandlers) => () => void;
  /** Closes connections without requests. */
  readonly closeIdle: () => void;
  /** Closes each connection as soon as it has no requests. */
  readonly retire: () => void;
  /** Closes connections that may be dead without an error, with their requests; not those whose death a ping shows. */
  readonly closeDoubtful: () => void;
  /** Closes all connections; their requests fail. */
  readonly destroy: () => void;
}

/**
 * Makes a reply of a body. `problemAtEnd` is called when the body has ended without an error, and returns an error if it is not whole.
 */
export const httpReply = (
  { statusCode, headers, body }: Pick<TransportReply, 'statusCode' | 'headers' | 'body'>,
  problemAtEnd: () => Error | undefined,
): TransportReply => {
  let end: { readonly error: Error | undefined } | undefined;
  let onSettled: ((error: Error | undefined) => void) | undefined;
  const settle = (error: Error | undefined): void => {
    if (end) return;
    end = { error };
    onSettled?.(error);
  };
  body.on('end', () => settle(problemAtEnd()));
  body.on('error', settle);
  body.on('close', () => settle(aborted()));
  return {
    ...{ statusCode, headers, body },
    onEnd: (whole, broken) => {
      onSettled = (error) => (error ? broken(error) : whole());
      if (end) onSettled(end.error);
    },
  };
};

/** The error of a connection that broke; Node.js reports the same for HTTP/1.1. */
export const aborted = (): Error => Object.assign(new Error('aborted'), { code: 'ECONNRESET' });

import type { SecureContext } from 'node:tls';
import type { SchedulerLike } from 'rxjs';
import type { Logger } from '../streams/ports/logger.js';
import type { ApiIdentity } from './api-identity.js';
import { dialTarget, dialTls } from './dial.js';
import { type Http1Limits, http1Transport } from './http1-transport.js';
import { http2Connection } from './http2-connection.js';
import { http2Settings } from './http2-settings.js';
import type { HttpHandlers, TransportRequest, HttpTransport } from './http-transport.js';
import { negotiatedTransport } from './negotiated-transport.js';

export interface ConnectionOptions extends Http1Limits {
  readonly env: NodeJS.ProcessEnv;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly scheduler: SchedulerLike;
}

export interface Connections {
  /**
   * Sends a request with these certificates. Connections with other certificates close when they have no requests. Returns a function
   * to cancel the request. Errors: throws on an invalid header.
   */
  readonly send: (tls: SecureContext | undefined, request: TransportRequest, handlers: HttpHandlers) => () => void;
  readonly closeIdle: () => void;
  /** Closes the connections that may be dead without an error, also those with running requests. */
  readonly closeDoubtful: () => void;
  /** Closes every connection, also those with running requests. */
  readonly close: () => void;
}

/**
 * Makes the connections to an API server, which are kept open between requests. Over TLS the server chooses HTTP/2 or HTTP/1.1, also
 * behind a proxy. Errors: an invalid URL of the proxy.
 */
export const connections = (identity: ApiIdentity, options: ConnectionOptions): Connections => {
  const { env, log, scheduler, idleMs, tlsHandshakeMs } = options;
  const target = dialTarget(identity, env);
  const { isEnabled, pingAfterMs, pingAnswerMs } = http2Settings(env, log);
  const timing = { silenceMs: pingAfterMs, answerMs: pingAnswerMs, unusedMs: idleMs, scheduler };
  let current: { readonly tls: SecureContext | undefined; readonly transport: HttpTransport } | undefined;

  const open = (tls: SecureContext | undefined): HttpTransport => {
    const http1 = http1Transport(target, tls, options);
    if (!tls || !isEnabled) return http1;
    return negotiatedTransport({
      dial$: dialTls(target, tls, options),
      http1,
      hasPings: pingAfterMs > 0,
      http2: (socket) => http2Connection(socket, { url: target.url, settingsMs: tlsHandshakeMs, timing }),
      onBroken: (error) => log.info({ error: String(error) }, 'the connection to the API server is closed'),
    });
  };
  return {
    send: (tls, request, handlers) => {
      if (current?.tls !== tls) {
        current?.transport.retire();
        current = undefined;
      }
      current ??= { tls, transport: open(tls) };
      return current.transport.send(request, handlers);
    },
    closeIdle: () => current?.transport.closeIdle(),
    closeDoubtful: () => current?.transport.closeDoubtful(),
    close: () => {
      const closed = current?.transport;
      current = undefined;
      closed?.destroy();
    },
  };
};

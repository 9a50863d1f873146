import type { Logger } from '../streams/ports/logger.js';

/**
 * The time without a byte from the server after which a ping is sent. Upstream waits for 30 s and then 15 s for the answer. With these
 * times, a pod that is bound while the connection is dead starts within 20 s. Heartbeats cause traffic about as often, so that a
 * connection that works hardly ever needs a ping.
 */
export const PING_AFTER_MS = 10_000;
/** The time limit for the answer to a ping. A server that is slow answers pings, so that there is no reason to wait longer. */
export const PING_ANSWER_MS = 5_000;

export interface Http2Settings {
  readonly isEnabled: boolean;
  /** 0: no pings. */
  readonly pingAfterMs: number;
  readonly pingAnswerMs: number;
}

/**
 * Reads the settings from the environment. Any value of DISABLE_HTTP2 except the empty one selects HTTP/1.1. A number that cannot be used
 * is logged, and the default is used.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/net/http.go SetTransportDefaults, readIdleTimeoutSeconds, pingTimeoutSeconds.
 *         golang.org/x/net/http2/transport.go uses the default if the limit for the answer is 0.
 */
export const http2Settings = (env: NodeJS.ProcessEnv, log: Pick<Logger, 'warn'>): Http2Settings => {
  const milliseconds = (name: string, defaultMs: number): number => {
    const text = env[name] ?? '';
    if (text === '') return defaultMs;
    if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
    log.warn({ [name]: text }, `${name}: expected seconds from 0 to 999999, using the default of ${defaultMs / 1_000}`);
    return defaultMs;
  };
  return {
    isEnabled: (env.DISABLE_HTTP2 ?? '') === '',
    pingAfterMs: milliseconds('HTTP2_READ_IDLE_TIMEOUT_SECONDS', PING_AFTER_MS),
    pingAnswerMs: milliseconds('HTTP2_PING_TIMEOUT_SECONDS', PING_ANSWER_MS) || PING_ANSWER_MS,
  };
};

import { readFileSync } from 'node:fs';

/** The time after which the file is read again. Source: client-go transport/token_source.go: a minute less ten seconds. */
export const KEPT_FOR_MS = 50_000;

export interface TokenFile {
  /** Returns the token of the last successful read. Errors: there was none; the message names the file. */
  readonly token: () => string;
  /** Call it after a refusal of the server: the file is read again for the next request. */
  readonly refuse: () => void;
}

/**
 * Reads a token from a file that another process renews.
 *
 * Source: staging/src/k8s.io/client-go/transport/token_source.go
 */
export const tokenFile = (path: string, now: () => number, onStale: (error: unknown) => void): TokenFile => {
  let read: { readonly token: string; readonly at: number } | undefined;
  let isRefused = false;
  return {
    token: () => {
      // A read in the future was before the clock was set back.
      if (read && !isRefused && read.at <= now() && now() - read.at < KEPT_FOR_MS) return read.token;
      try {
        const token = readFileSync(path, 'utf8').trim();
        if (token === '') throw new Error(`${path}: is empty, expected a token`);
        read = { token, at: now() };
        isRefused = false;
      } catch (error) {
        if (!read) throw error;
        onStale(error);
      }
      return read.token;
    },
    refuse: () => {
      isRefused = true;
    },
  };
};

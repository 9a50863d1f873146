import { readFileSync } from 'node:fs';

/** How long a token is used before its file is read again. Source: client-go transport/token_source.go: a minute less ten seconds. */
const KEPT_FOR_MS = 50_000;

export interface TokenFile {
  /** What the file held when it was read last. Errors: it cannot be read and never could, or it is empty; they name it. */
  readonly token: () => string;
  /** The server refused it: the next one is read from the file. */
  readonly refuse: () => void;
}

/**
 * A file with a token that somebody else renews.
 *
 * Source: staging/src/k8s.io/client-go/transport/token_source.go
 */
export const tokenFile = (path: string, now: () => number, onStale: (error: unknown) => void): TokenFile => {
  let read: { readonly token: string; readonly at: number } | undefined;
  let isRefused = false;
  return {
    token: () => {
      if (read && !isRefused && now() - read.at < KEPT_FOR_MS) return read.token;
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

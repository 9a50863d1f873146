import { isGone, isUnanswered } from '../kube-api/api-error.js';
import { isConnectionRefused, isTooManyRequests } from './list-watch-error.js';
import type { ReflectorProblem } from './reflector-event.js';

/**
 * A watch that ended sooner without a new event reports nothing about the history: an immediate repetition is useless.
 */
export const VERY_SHORT_WATCH_MS = 1_000;

/** One watch that has ended. */
export interface EndedWatch {
  readonly how:
    /** The server ended it. */
    | { readonly kind: 'closed' }
    /** An `ERROR` in the stream. */
    | { readonly kind: 'said'; readonly error: unknown }
    /** The request failed, or its connection broke. */
    | { readonly kind: 'failed'; readonly error: unknown }
    /** The watch received nothing for too long and was cancelled. */
    | { readonly kind: 'silent' }
    /** The received version is older than a known one, so the server has lost some of its history. */
    | { readonly kind: 'went-back'; readonly error: unknown };
  /** The server had replied with a stream. */
  readonly wasOpen: boolean;
  /** The milliseconds since the request. */
  readonly livedMs: number;
  /** The watch had emitted a new event. */
  readonly hadNews: boolean;
  /** The number of watches in a row, this one included, that have ended in silence. */
  readonly silentInRow: number;
}

export interface AfterWatch {
  /** Watch again at once, watch again after the next wait, or wait and list. */
  readonly next: 'again' | 'later' | 'list';
  readonly problem?: Pick<ReflectorProblem, 'error' | 'severity'>;
}

/**
 * Returns the action after a watch. A server that is only away keeps its history, so a watch of it continues from the
 * end of the last one.
 *
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go watch, handleAnyWatch, isWatchErrorRetriable. Silence,
 * and history that goes back, are our own rules: upstream waits for either to pass.
 */
export const afterWatch = ({ how, wasOpen, livedMs, hadNews, silentInRow }: EndedWatch): AfterWatch => {
  const closed = (error?: unknown): AfterWatch =>
    livedMs < VERY_SHORT_WATCH_MS && !hadNews
      ? { next: 'list', problem: { error: error ?? new Error(VERY_SHORT), severity: 'warning' } }
      : { next: 'again', ...(error !== undefined && { problem: { error, severity: 'debug' } }) };
  switch (how.kind) {
    case 'closed':
      return closed();
    case 'failed':
      if (wasOpen && isUnanswered(how.error)) return closed(how.error);
      if (isConnectionRefused(how.error) || isTooManyRequests(how.error))
        return { next: 'later', problem: { error: how.error, severity: 'warning' } };
      return { next: 'list', problem: { error: how.error, severity: isGone(how.error) ? 'debug' : 'error' } };
    case 'said':
      if (isTooManyRequests(how.error)) return { next: 'later', problem: { error: how.error, severity: 'debug' } };
      return { next: 'list', problem: { error: how.error, severity: isGone(how.error) ? 'debug' : 'warning' } };
    case 'silent':
      // The connection may be dead, which a new one shows, or the server may have gone back to a version from which no
      // event comes for long.
      if (!wasOpen) return { next: 'list', problem: { error: new Error(NO_ANSWER), severity: 'warning' } };
      return {
        next: silentInRow < 2 ? 'again' : 'list',
        problem: { error: new Error(SILENT), severity: 'debug' },
      };
    case 'went-back':
      return { next: 'list', problem: { error: how.error, severity: 'warning' } };
  }
};

const VERY_SHORT = 'the server ended the watch within a second, with nothing new in it';
const NO_ANSWER = 'the server has not answered';
const SILENT = 'the watch has been silent for too long';

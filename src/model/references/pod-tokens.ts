import type { Map as ImmutableMap } from 'immutable';
import { deleteEntries } from '../values/retain.js';
import { isExpired, issuedAtOf } from './token-refresh.js';
import type { IssuedToken } from './token-request.js';

/** The tokens of pods, by `tokenKey`: a purpose has an entry once the server has answered a request for its token. */
export type PodTokens = ImmutableMap<string, PodTokenEntry>;

interface PodTokenEntry {
  readonly podUid: string;
  /** Absent without a token, and after its end. */
  readonly held?: HeldToken | undefined;
}

/** A token, with the time of its receipt by the scheduler, in milliseconds. */
export interface HeldToken {
  readonly issued: IssuedToken;
  readonly receivedAt: number;
}

/** The present time: Unix milliseconds, and the scheduler's milliseconds. */
export interface TokenClock {
  readonly wallClock: number;
  readonly now: number;
}

/** Returns the time of day for a token, unless the clock is behind: a token is at least as old as the time since its receipt. */
export const timeForToken = ({ issued, receivedAt }: HeldToken, { wallClock, now }: TokenClock): number =>
  Math.max(wallClock, issuedAtOf(issued) + now - receivedAt);

/** The server has answered a request, perhaps by a refusal. A token of before stays. */
export const tokenAnswered = (tokens: PodTokens, key: string, podUid: string): PodTokens =>
  tokens.has(key) ? tokens : tokens.set(key, { podUid });

/** The server has issued a token. */
export const tokenIssued = (tokens: PodTokens, key: string, podUid: string, held: HeldToken): PodTokens =>
  tokens.set(key, { podUid, held });

export const withoutExpiredTokens = (tokens: PodTokens, clock: TokenClock): PodTokens =>
  tokens.map((entry): PodTokenEntry =>
    entry.held && isExpired(entry.held.issued, timeForToken(entry.held, clock)) ? { podUid: entry.podUid } : entry,
  );

/** Drops the entries of a pod. */
export const withoutTokensOf = (tokens: PodTokens, podUid: string): PodTokens =>
  deleteEntries(tokens, (_, entry) => entry.podUid === podUid);

/** A token is requested again after a day at the latest. */
export const MAX_TOKEN_AGE_MS = 24 * 60 * 60 * 1_000;
/** The share of its lifetime that has to be left of it. */
const LEFT = 0.2;
/** Spreads the requests for the tokens of a node. */
const MAX_JITTER_SECONDS = 10;

/** The lifetime of a token. Both times are Unix milliseconds. */
export interface TokenLife {
  readonly expiresAt: number;
  /** The requested lifetime, in milliseconds. */
  readonly lifetimeMs: number;
}

/** When the token was issued, if the server kept to the requested lifetime; Unix milliseconds. */
export const issuedAtOf = ({ expiresAt, lifetimeMs }: TokenLife): number => expiresAt - lifetimeMs;

export const isExpired = ({ expiresAt }: TokenLife, now: number): boolean => now > expiresAt;

/**
 * Whether a new token should be requested: four fifths of the lifetime are over, or the token is a day old. `random` in
 * [0, 1) makes that up to ten seconds earlier.
 *
 * Source: pkg/kubelet/token/token_manager.go requiresRefresh
 */
export const needsRefresh = (token: TokenLife, now: number, random: number): boolean => {
  const { expiresAt, lifetimeMs } = token;
  const jitterMs = Math.floor(random * MAX_JITTER_SECONDS) * 1_000;
  const leftMs = Math.floor((lifetimeMs * LEFT) / 1_000) * 1_000;
  return now > issuedAtOf(token) + MAX_TOKEN_AGE_MS - jitterMs || now > expiresAt - leftMs - jitterMs;
};

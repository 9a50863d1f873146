/** A token is asked for anew after a day at the latest. */
export const MAX_TOKEN_AGE_MS = 24 * 60 * 60 * 1_000;
/** Of its whole life, what has to be left of it. */
const LEFT = 0.2;
/** So that the tokens of a node are not all asked for at once. */
const MAX_JITTER_SECONDS = 10;

/** How long a token is good for. Both in Unix milliseconds. */
export interface TokenLife {
  readonly expiresAt: number;
  /** Milliseconds, as they were asked for. */
  readonly lifetimeMs: number;
}

export const isExpired = ({ expiresAt }: TokenLife, now: number): boolean => now > expiresAt;

/**
 * Whether there had better be a newer token: four fifths of its life are over, or it is a day old. `random` in [0, 1) makes that up
 * to ten seconds earlier.
 *
 * Source: pkg/kubelet/token/token_manager.go requiresRefresh
 */
export const needsRefresh = ({ expiresAt, lifetimeMs }: TokenLife, now: number, random: number): boolean => {
  const issuedAt = expiresAt - lifetimeMs;
  const jitterMs = Math.floor(random * MAX_JITTER_SECONDS) * 1_000;
  const leftMs = Math.floor((lifetimeMs * LEFT) / 1_000) * 1_000;
  return now > issuedAt + MAX_TOKEN_AGE_MS - jitterMs || now > expiresAt - leftMs - jitterMs;
};

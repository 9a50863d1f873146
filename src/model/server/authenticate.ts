import { ANONYMOUS, authenticated, type RequestUser } from './request-user.js';
import { offeredProtocols } from './token-protocol.js';

/** The client certificate of a connection. Times are Unix milliseconds. */
export interface PresentedCertificate {
  /** Whether the handshake has verified it against the client CA, for the use by a client. */
  readonly isTrusted: boolean;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
  /** SHA-256 of the certificate, in lower-case hexadecimal digits without colons. */
  readonly sha256: string;
}

/** The credentials that a client presents with a request. */
export interface Presented {
  readonly certificate?: PresentedCertificate | undefined;
  /** The header, as it was sent. */
  readonly authorization?: string | undefined;
  /** The header `Sec-WebSocket-Protocol` of a WebSocket client, of which one protocol may be a token. */
  readonly webSocketProtocols?: string | undefined;
}

/** The result of the review of a token: no user if the API server does not know the token. */
export interface TokenVerdict {
  readonly user?: RequestUser;
}

export interface AuthenticationRules {
  /** Whether tokens are reviewed; else they are ignored. */
  readonly reviewsTokens: boolean;
  readonly allowsAnonymous: boolean;
}

/** `review` means that the token has to be reviewed before the decision. */
export type Authentication =
  | { readonly kind: 'user'; readonly user: RequestUser }
  | { readonly kind: 'review'; readonly token: string }
  | { readonly kind: 'unauthorized' };

/**
 * Returns the user of a request. The first credential that is accepted counts: the certificate, then the token of the
 * header, then the token of a WebSocket protocol. A client is anonymous only if it has presented nothing that was refused.
 * `verdicts` are the results of the reviews so far, in the order of the tokens; `failed` counts as refused.
 *
 * Source: cmd/kubelet/app/auth.go, staging/src/k8s.io/apiserver/pkg/authentication/authenticatorfactory/delegating.go
 */
export const authenticate = (
  presented: Presented,
  { reviewsTokens, allowsAnonymous }: AuthenticationRules,
  now: number,
  verdicts: readonly (TokenVerdict | 'failed')[] = [],
): Authentication => {
  const { certificate } = presented;
  const isValid = certificate ? isAccepted(certificate, now) : undefined;
  // A certificate without a name is valid, and names no user. Source: request/x509 CommonNameUserConversion
  if (certificate && isValid && certificate.commonName !== '') return userOf(certificateUser(certificate));
  for (const verdict of verdicts) if (verdict !== 'failed' && verdict.user) return userOf(verdict.user);
  const { tokens, isTokenMalformed } = reviewsTokens ? presentedTokens(presented) : NO_TOKENS;
  const next = tokens[verdicts.length];
  if (next !== undefined) return { kind: 'review', token: next };
  const hasRefused = isValid === false || tokens.length > 0 || isTokenMalformed;
  return allowsAnonymous && !hasRefused ? { kind: 'user', user: ANONYMOUS } : { kind: 'unauthorized' };
};

interface PresentedTokens {
  readonly tokens: readonly string[];
  readonly isTokenMalformed: boolean;
}
const NO_TOKENS: PresentedTokens = { tokens: [], isTokenMalformed: false };

const presentedTokens = ({ authorization, webSocketProtocols }: Presented): PresentedTokens => {
  const { token, isTokenMalformed = false } = offeredProtocols(webSocketProtocols);
  return { tokens: [bearerToken(authorization) ?? [], token ?? []].flat(), isTokenMalformed };
};

const userOf = (user: RequestUser): Authentication => ({ kind: 'user', user: authenticated(user) });

/** The handshake has checked the times, too, but a connection may outlive its certificate. */
const isAccepted = ({ isTrusted, notBefore, notAfter }: PresentedCertificate, now: number): boolean =>
  isTrusted && notBefore <= now && now <= notAfter;

const certificateUser = ({ commonName, organizations, sha256 }: PresentedCertificate): RequestUser => ({
  name: commonName,
  uid: '',
  groups: organizations,
  extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${sha256}`] },
});

/**
 * Returns the token of the header; undefined for another scheme and for an empty token, which count as nothing.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/authentication/request/bearertoken/bearertoken.go
 */
export const bearerToken = (header = ''): string | undefined => {
  const [scheme = '', token = ''] = header.trim().split(' ', 2);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
};

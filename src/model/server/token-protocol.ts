/** A token as a WebSocket protocol: a browser cannot set the header `Authorization`. */
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';

/** The protocols that a WebSocket client offers, apart from its token. */
export interface OfferedProtocols {
  readonly token?: string;
  /** There is a token that cannot be read, which counts as a credential that is refused. */
  readonly isTokenMalformed?: true;
  readonly others: readonly string[];
}

/**
 * Reads the header `Sec-WebSocket-Protocol`. A token is UTF-8 in base64url without padding; it is malformed if there are two,
 * or no protocol beside it that the reply could name.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/authentication/request/websocket/protocol.go
 */
export const offeredProtocols = (header = ''): OfferedProtocols => {
  const all = header
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
  const isToken = (protocol: string): boolean => protocol.startsWith(TOKEN_PROTOCOL);
  const others = all.filter((protocol) => !isToken(protocol));
  const tokens = all.filter(isToken).map((protocol) => protocol.slice(TOKEN_PROTOCOL.length));
  const [encoded] = tokens;
  // An empty token is no token.
  if (encoded === undefined || (encoded === '' && tokens.length === 1)) return { others };
  const token = tokens.length === 1 && others.length > 0 ? decoded(encoded) : undefined;
  return { others, ...(token === undefined ? { isTokenMalformed: true } : { token }) };
};

const decoded = (encoded: string): string | undefined => {
  if (!/^[\w-]+$/.test(encoded) || encoded.length % 4 === 1) return undefined;
  try {
    const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(binary, (character) => character.charCodeAt(0)),
    );
  } catch {
    return undefined;
  }
};

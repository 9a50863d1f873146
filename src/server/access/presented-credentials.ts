import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Presented, PresentedCertificate } from '../../model/server/authenticate.js';

/** The credentials of a request. */
export const presentedCredentials = ({ headers, socket }: IncomingMessage): Presented => ({
  authorization: headers.authorization,
  webSocketProtocols: isWebSocket(headers) ? headers['sec-websocket-protocol'] : undefined,
  certificate: socket instanceof TLSSocket ? certificateOf(socket) : undefined,
});

/**
 * Whether the headers ask for a WebSocket. Upstream's regular expression takes the square of the header's length here, and any client
 * may send a header of a megabyte.
 *
 * Source: staging/src/k8s.io/streaming/pkg/httpstream/wsstream/conn.go IsWebSocketRequest
 */
export const isWebSocket = ({ upgrade = '', connection = '' }: IncomingHttpHeaders): boolean =>
  upgrade.toLowerCase() === 'websocket' &&
  connection
    .toLowerCase()
    .split(',')
    .some((option) => option.trim() === 'upgrade');

/** The certificate of the client; undefined if it has sent none. */
const certificateOf = (socket: TLSSocket): PresentedCertificate | undefined => {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return undefined;
  const { CN, O } = certificate.toLegacyObject().subject as unknown as Partial<
    Record<'CN' | 'O', string | readonly string[]>
  >;
  return {
    isTrusted: socket.authorized,
    // Go uses the last one.
    commonName: [CN ?? []].flat().at(-1) ?? '',
    organizations: [O ?? []].flat(),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
};

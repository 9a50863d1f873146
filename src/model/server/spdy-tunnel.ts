import type { RawHeaders } from './forwarded-headers.js';

/** A client of a WebSocket offers to send SPDY in its messages by this name before that of the protocol over SPDY. */
const PREFIX = 'SPDY/3.1+';
const SUFFIX = '.k8s.io';
export const VERSION_HEADER = 'X-Stream-Protocol-Version';

/**
 * The protocols over SPDY that a header `Sec-WebSocket-Protocol` offers, such as `portforward.k8s.io`.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/util/proxy/streamtunnel.go spdyProtocolsFromWebsocketProtocols
 */
export const tunnelledProtocols = (header = ''): readonly string[] =>
  header
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol.startsWith(PREFIX) && protocol.endsWith(SUFFIX))
    .map((protocol) => protocol.slice(PREFIX.length));

/** The name of the WebSocket protocol for a protocol over SPDY. */
export const tunnelName = (protocol: string): string => `${PREFIX}${protocol}`;

/** The headers of the WebSocket, and of the upgrade to it. */
const OF_WEB_SOCKET = /^(sec-websocket-.*|connection|upgrade|x-stream-protocol-version)$/i;

/**
 * The headers of an upgrade to SPDY with these protocols, in place of those of the upgrade to a WebSocket.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/util/proxy/streamtunnel.go createSPDYRequest
 */
export const spdyHeaders = (raw: RawHeaders, protocols: readonly string[]): RawHeaders => [
  ...raw.flatMap((name, index) => (index % 2 === 0 && !OF_WEB_SOCKET.test(name) ? [name, raw[index + 1] ?? ''] : [])),
  ...['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'],
  ...protocols.flatMap((protocol) => [VERSION_HEADER, protocol]),
];

import { offeredProtocols } from './token-protocol.js';

/** Names and values, by turns, as they were sent. */
export type RawHeaders = readonly string[];

/** Credentials are for this agent alone, and the bytes after the header are no body of the request. */
const OWN = ['authorization', 'content-length', 'transfer-encoding', 'sec-websocket-protocol', 'x-forwarded-for'];
const PROTOCOLS = 'Sec-WebSocket-Protocol';

/**
 * Returns the headers of an upgrade for the streaming server of the runtime, each with its values: those of the client
 * without its credentials, and with the address of the client in `X-Forwarded-For`.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go, staging/src/k8s.io/apimachinery/pkg/util/net/http.go
 * AppendForwardedForHeader
 */
export const forwardedHeaders = (
  raw: RawHeaders,
  clientAddress: string | undefined,
): readonly (readonly [name: string, values: readonly string[]])[] => {
  const found = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]!;
    const entry = found.get(name.toLowerCase()) ?? { name, values: [] };
    entry.values.push(raw[index + 1]!);
    found.set(name.toLowerCase(), entry);
  }
  const valuesOf = (name: string): readonly string[] => found.get(name.toLowerCase())?.values ?? [];
  const { others } = offeredProtocols(valuesOf(PROTOCOLS).join(','));
  const hops = [...valuesOf('X-Forwarded-For'), ...(clientAddress === undefined ? [] : [clientAddress])].join(', ');
  return [
    ...[...found].flatMap(([key, { name, values }]) => (OWN.includes(key) ? [] : [[name, values] as const])),
    ...(others.length === 0 ? [] : [[PROTOCOLS, [others.join(', ')]] as const]),
    ...(hops === '' ? [] : [['X-Forwarded-For', [hops]] as const]),
  ];
};

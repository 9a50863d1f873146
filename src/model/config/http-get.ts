import { KUBERNETES_VERSION } from '../node/kubernetes-version.js';
import type { Container, HttpGetAction } from '../pod/pod.js';

/** One GET over the network, ready to be sent. */
export interface HttpGetRequest {
  readonly scheme: 'http' | 'https';
  /** HTTP/2 without TLS, with prior knowledge; only with the scheme `http`. HTTP/1.1 unless given. */
  readonly protocol?: 'HTTP2';
  /** A host name or an address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path and query, escaped. */
  readonly target: string;
  /** The headers in the order in which they are sent, `Host` included; a name may occur several times. */
  readonly headers: readonly HttpHeader[];
}
export type HttpHeader = readonly [name: string, value: string];

/** The reply that a client receives, after redirects. */
export interface HttpGetAnswer {
  readonly status: number;
  /** The body, up to the limit of the caller. */
  readonly body: string;
}

/**
 * Returns the request of an `httpGet` of a pod. `purpose` identifies the agent to the server: `kube-probe/1.37`.
 *
 * Errors: an invalid port.
 * Source: pkg/probe/http/request.go NewRequestForHTTPGetAction
 */
export const httpGetRequest = (
  { host, port, path = '', scheme, httpHeaders = [] }: HttpGetAction,
  { container, podIp, purpose }: { readonly container: Container; readonly podIp: string; readonly purpose: string },
): HttpGetRequest => {
  const to = { host: host || podIp, port: resolvePort(port, container) };
  const given = httpHeaders.map(({ name, value }): HttpHeader => [canonicalName(name), value]);
  const valueOf = (wanted: string) => given.find(([name]) => name === wanted)?.[1];
  const agent = valueOf('User-Agent') ?? `kube-${purpose}/${KUBERNETES_VERSION}`;
  const ownAccept: readonly HttpHeader[] = valueOf('Accept') === undefined ? [['Accept', '*/*']] : [];
  const headers: readonly HttpHeader[] = [
    ['Host', valueOf('Host') || hostAndPort(to)],
    ['User-Agent', agent],
    ...ownAccept,
    ...given.filter(([name]) => !SET_ELSEWHERE.has(name)),
  ];
  return {
    ...to,
    scheme: scheme?.toLowerCase() === 'https' ? 'https' : 'http',
    target: requestTarget(path),
    // An empty value removes a header that is otherwise always sent.
    headers: headers.filter(([name, value]) => value !== '' || (name !== 'User-Agent' && name !== 'Accept')),
  };
};

/** The first two are set already; the others describe a body, and this request has none. */
const SET_ELSEWHERE: ReadonlySet<string> = new Set([
  'Host',
  'User-Agent',
  'Content-Length',
  'Transfer-Encoding',
  'Trailer',
]);

/**
 * Returns the same request for a server without TLS. Credentials are removed, since the connection is not encrypted.
 */
export const withoutTls = (request: HttpGetRequest): HttpGetRequest => ({
  ...request,
  scheme: 'http',
  headers: request.headers.filter(([name]) => name !== 'Authorization'),
});

/** Returns `host:port` in the form of a URL. */
export const hostAndPort = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

export const urlOf = (request: HttpGetRequest): string =>
  `${request.scheme}://${hostAndPort(request)}${request.target}`;

/**
 * Returns a port by its number, or by its name in the container.
 *
 * Errors: no such port, or no port at all.
 * Source: pkg/probe/util.go ResolveContainerPort
 */
export const resolvePort = (port: number | string, { ports = [] }: Container): number => {
  const number =
    typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? toInt(port));
  if (number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${number}`);
};

const toInt = (text: string): number => {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  throw new Error(`the container has no port named ${JSON.stringify(text)}`);
};

/** Returns `X-Forwarded-For` for `x-forwarded-for`. */
const canonicalName = (name: string): string =>
  name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/**
 * Returns the path and query of the request: `path` as a reference, without scheme, host and fragment. A `path` that is
 * not a valid reference is used unchanged.
 *
 * Source: pkg/probe/http/request.go formatURL
 */
const requestTarget = (path: string): string => {
  const { scheme, rest = '' } = REFERENCE.exec(path)?.groups ?? {};
  const isReference = !UNREADABLE.test(path) && (scheme === undefined || rest.startsWith('/'));
  if (!isReference) return rooted(path.replace(NOT_IN_PATHS, encodeURIComponent).replace(BARE_PERCENT, '%25'));
  const { before = '', query = '' } = /^(?<before>[^?#]*)(?<query>[^#]*)/s.exec(rest)?.groups ?? {};
  return rooted(before.replace(NOT_IN_PATHS, encodeURIComponent)) + query.replace(NOT_IN_QUERIES, encodeURIComponent);
};

const REFERENCE = /^(?:(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/[^/?#]*)?(?<rest>.*)$/s;
const BARE_PERCENT = /%(?![0-9A-Fa-f]{2})/g;
/** A broken escape, or a control character. */
const UNREADABLE = /%(?![0-9A-Fa-f]{2})|\p{Cc}/u;
const NOT_IN_PATHS = /[^A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]%]+/gu;
const NOT_IN_QUERIES = /[^\x21-\x7e]+/gu;

const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`);

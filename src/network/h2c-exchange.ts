import { connect as speakHttp2, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { hostAndPort, type HttpHeader } from '../model/config/http-get.js';
import { DIAL_TIMEOUT, type HttpExchange, MAX_HEADER_BYTES } from './http-exchange.js';

/**
 * One GET of HTTP/2 over plain TCP, with prior knowledge: a server that speaks only HTTP/1.1 does not answer it.
 *
 * Source: pkg/probe/http/http.go
 */
export const h2cExchange: HttpExchange = (to, { dialMs }, { answer, fail }) => {
  const { host, port } = to;
  const socket = connect({ host, port, noDelay: true });
  const timer = setTimeout(() => fail(DIAL_TIMEOUT), dialMs);
  socket.on('connect', () => clearTimeout(timer));
  const session = speakHttp2(`http://${hostAndPort(to)}`, {
    createConnection: () => socket,
    maxHeaderListPairs: MAX_HEADERS,
    settings: { enablePush: false, maxHeaderListSize: MAX_HEADER_BYTES },
  });
  let report = fail;
  const close = (): void => {
    report = () => undefined;
    clearTimeout(timer);
    session.destroy();
    socket.destroy();
  };
  session.on('error', (error) => report(error));
  session.on('close', () => report('EOF'));
  try {
    const call = session.request(
      { ':method': 'GET', ':scheme': 'http', ':path': to.target, ...fieldsOf(to.headers) },
      { endStream: true },
    );
    // The `close` handler reports it.
    call.on('error', () => undefined);
    call.on('close', () => {
      // The session reports why it ended.
      if (!session.destroyed && !socket.destroyed) report(resetText(call.rstCode));
    });
    call.on('response', (headers) => {
      answer({
        status: Number(headers[':status']),
        location: headers.location,
        read: (reader) => {
          report = reader.fail;
          call.on('data', reader.data);
          // A connection that breaks ends the data too, but with a code.
          call.prependListener('close', () => {
            if (call.rstCode === constants.NGHTTP2_NO_ERROR) reader.end();
          });
        },
      });
    });
  } catch (error) {
    close();
    throw error;
  }
  return close;
};

/** Far more than any server sends; the size limits them first. */
const MAX_HEADERS = 100_000;

/** These belong to a connection of HTTP/1.1. Source: golang.org/x/net/http2 encodeRequestHeaders */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** The fields of the request in the form of HTTP/2; several values of one name are a list. */
const fieldsOf = (headers: readonly HttpHeader[]): OutgoingHttpHeaders => {
  const fields: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    const key = name === 'Host' ? ':authority' : name.toLowerCase();
    if (!OF_CONNECTION.has(key)) (fields[key] ??= []).push(value);
  }
  return Object.fromEntries(
    Object.entries(fields).map(([key, values]) => [key, values.length > 1 ? values : values[0]]),
  );
};

/** Go's names for the codes of a reset, by their numbers. Source: golang.org/x/net/http2 errors.go */
const CODES = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED'],
  ...['FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM'],
  ...['INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

const resetText = (code: number): string => `stream error: stream ID 1; ${CODES[code] ?? code}; received from peer`;

import { type ClientHttp2Session, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Subscriber } from 'rxjs';
import { HealthService } from '../generated/grpc/health/v1/health.js';
import { errorText } from '../model/cri/cri-error.js';
import { type GrpcCode, grpcCode, grpcCodeOfHttp } from '../model/probes/grpc-code.js';
import { HealthFailure } from '../model/probes/health-failure.js';
import type { HealthCheckProgress, HealthCheckRequest } from '../streams/ports/check-health.js';

/** The default limit of a client of Go. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Calls `grpc.health.v1.Health/Check` over an open connection, and does not close it.
 *
 * Errors: `HealthFailure`.
 * Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export const callHealth = (
  session: ClientHttp2Session,
  { isTls, service, userAgent, timeoutMs }: HealthCheckRequest,
  subscriber: Subscriber<HealthCheckProgress>,
): void => {
  const { path, requestSerialize, responseDeserialize } = HealthService.check;
  const fail = (code: GrpcCode, message: string, cause?: unknown): void =>
    subscriber.error(new HealthFailure('call', code, message, { cause }));
  const call = session.request({
    ':method': 'POST',
    ':scheme': isTls ? 'https' : 'http',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': userAgent,
    'grpc-timeout': `${timeoutMs}m`,
  });
  const chunks: Buffer[] = [];
  let length = 0;
  let fields: IncomingHttpHeaders = {};
  call.on('response', (headers) => {
    fields = headers;
    const status = Number(headers[':status']);
    const type = headers['content-type'] ?? '';
    if (status === 200 && type.startsWith('application/grpc')) return;
    const what = `transport: received unexpected content-type ${JSON.stringify(type)}`;
    if (status === 200) return fail('Unknown', `unexpected HTTP status code received from server: 200 (OK); ${what}`);
    fail(grpcCodeOfHttp(status), `unexpected HTTP status code received from server: ${status}; ${what}`);
  });
  call.on('trailers', (trailers: IncomingHttpHeaders) => (fields = { ...fields, ...trailers }));
  call.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= MAX_MESSAGE_BYTES) return;
    fail('ResourceExhausted', `grpc: received message larger than max (${length} vs. ${MAX_MESSAGE_BYTES})`);
  });
  // The `close` handler reports the error.
  call.on('error', () => undefined);
  call.on('close', () => {
    // The session reports why it ended.
    if (session.destroyed) return;
    if (call.rstCode !== constants.NGHTTP2_NO_ERROR) {
      const { code, name } = RESETS[call.rstCode] ?? { code: 'Internal', name: `${call.rstCode}` };
      return fail(code, `stream terminated by RST_STREAM with error code: ${name}`);
    }
    const status = fields['grpc-status'];
    if (status === undefined) return fail('Internal', 'server closed the stream without sending trailers');
    if (status !== '0') return fail(grpcCode(Number(status)), percentDecoded(fields['grpc-message']));
    try {
      subscriber.next({ kind: 'answered', status: responseDeserialize(unframed(Buffer.concat(chunks))).status });
    } catch (error) {
      return fail('Internal', `grpc: failed to unmarshal the received message: ${errorText(error)}`, error);
    }
    subscriber.complete();
  });
  call.end(framed(requestSerialize({ service })));
};

/**
 * Go's name for a reset of HTTP/2, and the gRPC code that Go derives from it. Source: internal/transport/http_util.go
 * http2ErrConvTab
 */
const RESETS: Readonly<Record<number, { readonly name: string; readonly code: GrpcCode }>> = {
  [constants.NGHTTP2_PROTOCOL_ERROR]: { name: 'PROTOCOL_ERROR', code: 'Internal' },
  [constants.NGHTTP2_INTERNAL_ERROR]: { name: 'INTERNAL_ERROR', code: 'Internal' },
  [constants.NGHTTP2_FLOW_CONTROL_ERROR]: { name: 'FLOW_CONTROL_ERROR', code: 'ResourceExhausted' },
  [constants.NGHTTP2_REFUSED_STREAM]: { name: 'REFUSED_STREAM', code: 'Unavailable' },
  [constants.NGHTTP2_CANCEL]: { name: 'CANCEL', code: 'Canceled' },
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: { name: 'ENHANCE_YOUR_CALM', code: 'ResourceExhausted' },
  [constants.NGHTTP2_HTTP_1_1_REQUIRED]: { name: 'HTTP_1_1_REQUIRED', code: 'Internal' },
};

/** One message of gRPC: the flag for no compression, its length, its bytes. */
const framed = (message: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

const unframed = (bytes: Buffer): Buffer => {
  if (bytes.length < 5) throw new Error('there is none');
  if (bytes[0] !== 0) throw new Error('it is compressed, but compression was not requested');
  const end = 5 + bytes.readUInt32BE(1);
  if (end !== bytes.length) throw new Error(`expected ${end} bytes, received ${bytes.length}`);
  return bytes.subarray(5, end);
};

/** The text of a percent-encoded gRPC header. A malformed text is returned unchanged. */
const percentDecoded = (text: string | string[] | undefined): string => {
  const raw = [text ?? ''].flat().join(', ');
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
};

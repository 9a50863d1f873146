import { status, type handleServerStreamingCall, type handleUnaryCall, type ServerWritableStream } from '@grpc/grpc-js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Logger } from '../../streams/ports/logger.js';
import { RuntimeError } from './runtime-error.js';

/** A method's reply; `signal` fires when the client has cancelled the call. */
export type Answer<Request, Response> = (request: Request, signal: AbortSignal) => Promise<Response> | Response;

/** Serves a method. A thrown `RuntimeError` keeps its code, any other error becomes UNKNOWN with its message. */
export const unary =
  <Request, Response>(
    name: string,
    log: Logger,
    answer: Answer<Request, Response>,
  ): handleUnaryCall<Request, Response> =>
  (call, callback) => {
    const abort = new AbortController();
    call.on('cancelled', () => abort.abort());
    const fail = (error: unknown): void => {
      const code = error instanceof RuntimeError ? error.code : status.UNKNOWN;
      log.debug({ call: name, code, error: errorText(error) }, 'call failed');
      callback({ code, details: errorText(error) });
    };
    Promise.resolve()
      .then(() => answer(call.request, abort.signal))
      .then((response) => callback(null, response), fail);
  };

/** A method that this runtime does not implement, with the reason. */
export const unsupportedUnary =
  <Request, Response>(name: string, why: string): handleUnaryCall<Request, Response> =>
  (_call, callback) =>
    callback({ code: status.UNIMPLEMENTED, details: `${name} is not supported by the embedded runtime: ${why}` });

export const unsupportedStream =
  <Request, Response>(name: string, why: string): handleServerStreamingCall<Request, Response> =>
  (call: ServerWritableStream<Request, Response>) =>
    void call.emit('error', {
      code: status.UNIMPLEMENTED,
      details: `${name} is not supported by the embedded runtime: ${why}`,
    });

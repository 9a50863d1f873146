import { CriError } from '../cri/cri-error.js';
import { rpcErrorText } from '../cri/rpc-error-text.js';

/** The reply to a request for a stream that is refused: plain text. */
export interface StreamRefusal {
  readonly status: number;
  readonly body: string;
  readonly retryAfterSeconds?: number;
}

/** An open stream counts until it ends, so the client cannot know when to repeat its request. */
export class TooManyStreams extends Error {
  override readonly name = 'TooManyStreams';
}

/** The lifetime of an unused URL of the runtime, which frees a place. Source: staging/src/k8s.io/cri-streaming errors.go */
export const RETRY_AFTER_SECONDS = 60;

/**
 * Returns the reply for an error before the stream began. Errors of the runtime have the text of gRPC for Go.
 *
 * Source: staging/src/k8s.io/cri-streaming/pkg/streaming/errors.go WriteError
 */
export const streamRefusal = (error: unknown): StreamRefusal => {
  if (error instanceof TooManyStreams) return { status: 429, body: error.message };
  const body = rpcErrorText(error);
  if (!(error instanceof CriError)) return { status: 500, body };
  if (error.code === 'not-found') return { status: 404, body };
  if (error.code === 'resource-exhausted') return { status: 429, body, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return { status: 500, body };
};

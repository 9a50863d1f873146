import { isCriError } from '../cri/cri-error.js';
import { rpcErrorText } from '../cri/rpc-error-text.js';

/**
 * Returns the message of a failed pull for events and the status: the error of each attempt, with its gRPC code unless
 * that is Unknown. Equal texts occur once.
 *
 * Source: cri-client/pkg/remote_image.go PullImage; apimachinery pkg/util/errors NewAggregate
 */
export const pullErrorText = (errors: readonly unknown[]): string => {
  const texts = [...new Set(errors.map(attemptText))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
};

const attemptText = (error: unknown): string => (isCriError(error, 'unknown') ? error.message : rpcErrorText(error));

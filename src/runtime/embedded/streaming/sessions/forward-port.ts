import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorText } from '../../../../model/cri/cri-error.js';
import { mayFail } from '../../machine/machine.js';

/** A pod has the network of this machine, so its own address is one of these two. */
const ADDRESSES = ['127.0.0.1', '::1'] as const;

/** The first connection that is accepted. Errors: none is; those of both addresses. */
const dial = async (port: number): Promise<Socket> => {
  const refused: string[] = [];
  for (const host of ADDRESSES)
    try {
      mayFail('connect', 'connect', `${host}:${port}`);
      const socket = connect({ host, port, allowHalfOpen: true });
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      return socket;
    } catch (error) {
      refused.push(errorText(error));
    }
  throw new Error(`failed to connect to localhost:${port}: ${refused.join(', ')}`);
};

/** The pod that a session reaches. */
export interface ForwardTarget {
  readonly sandboxId: string;
  /** Errors: the sandbox is not ready. */
  readonly requireReady: () => unknown;
  /**
   * Fires when the sandbox is not ready any more: from then on its ports may be those of any other program. Its reason is an Error for the
   * client.
   */
  readonly over: AbortSignal;
}

/**
 * Joins a client's stream with a port of the pod; resolves when both directions have ended. Either side may half-close.
 * Errors: the pod has ended; no program listens there; the connection broke.
 */
export const forwardPort = async (
  { requireReady, over }: ForwardTarget,
  port: number,
  stream: Duplex,
  gone: AbortSignal,
): Promise<void> => {
  requireReady();
  const socket = await dial(port);
  const drop = (): void => void socket.destroy();
  const end = (): void => void socket.destroy(over.reason as Error);
  // A client's end is passed on; a reset ends the connection.
  stream.once('close', () => stream.readableEnded || drop());
  gone.addEventListener('abort', drop, { once: true });
  over.addEventListener('abort', end, { once: true });
  try {
    if (over.aborted) end();
    else if (gone.aborted || (stream.destroyed && !stream.readableEnded)) drop();
    else stream.pipe(socket).pipe(stream);
    await new Promise<void>((resolve, reject) => socket.once('error', reject).once('close', () => resolve()));
  } finally {
    gone.removeEventListener('abort', drop);
    over.removeEventListener('abort', end);
    stream.unpipe(socket);
    stream.resume();
  }
};

/** Source: k8s.io/kubelet/pkg/cri/streaming/portforward/httpstream.go portForward; a runtime knows no uid. */
export const forwardErrorText = (port: number, sandboxId: string, error: unknown): string =>
  `error forwarding port ${port} to pod ${sandboxId}, uid : ${errorText(error)}`;

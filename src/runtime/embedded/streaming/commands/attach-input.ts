import { finished, type Readable } from 'node:stream';
import type { Socket } from 'node:net';

/** A client's input on its way to a container. */
export interface AttachedInput {
  /** Resolves when the client has ended its input, and all of it is in the pipe of the container or was dropped. */
  readonly done: Promise<unknown>;
  readonly close: () => void;
}

/** Resolves when the client sends nothing more, or has gone. */
const ended = (stdin: Readable): Promise<void> =>
  new Promise((resolve) => finished(stdin, { writable: false }, () => resolve()));

/**
 * Passes the input of a client on as fast as the container reads it. `writer` is undefined for an input that is closed: what the
 * client sends then is dropped, as is all that it sends after the container has closed its end.
 */
export const attachInput = (stdin: Readable, writer: Socket | undefined): AttachedInput => {
  const clientEnded = ended(stdin);
  if (!writer) {
    stdin.resume();
    return { done: clientEnded, close: () => undefined };
  }
  const closed = new Promise<void>((resolve) => writer.once('close', () => resolve()));
  stdin.pipe(writer);
  // A client that resets the stream, without an end.
  stdin.once('close', () => writer.end());
  void closed.then(() => {
    stdin.unpipe(writer);
    stdin.resume();
  });
  return { done: Promise.all([clientEnded, closed]), close: () => writer.destroy() };
};

/** A peer broke the protocol: nothing more on its connection can be read. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

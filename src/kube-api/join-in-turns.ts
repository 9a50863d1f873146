import { setImmediate } from 'node:timers/promises';

/** Bytes that are copied in one turn of the loop: this takes a millisecond if the memory is new to the process. */
const SLICE_BYTES = 2 ** 20;

/** Returns one buffer of all parts, like `Buffer.concat`; a large one is copied over several turns of the event loop. */
export const joinInTurns = async (chunks: readonly Buffer[], sliceBytes = SLICE_BYTES): Promise<Buffer> => {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length <= sliceBytes) return Buffer.concat(chunks, length);
  // Every byte is written before the buffer is returned.
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  let pauseAt = sliceBytes;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    if (at < pauseAt) continue;
    pauseAt = at + sliceBytes;
    await setImmediate();
  }
  return whole;
};

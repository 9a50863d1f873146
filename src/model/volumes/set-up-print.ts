import type { VolumePayload } from './volume-payload.js';
import type { VolumeSetup } from './volume-setup.js';

/**
 * Returns a fingerprint of a volume with its files; equal for equal volumes. It has 64 bits and holds no content, since a Secret
 * would otherwise stay in memory. The next comparison with the disk finds a difference that the fingerprint does not show.
 */
export const setUpPrint = (setup: VolumeSetup, payload: VolumePayload): string => {
  const files = [...payload].map(([path, { data, mode, user }]) => [path, mode, user ?? null, printOf(data)]).sort();
  return printOf(new TextEncoder().encode(JSON.stringify([setup, files])));
};

/**
 * Two hashes of 32 bits with different multipliers. Payloads have up to a mebibyte, which the FNV of this project with 128 bits takes
 * ten times as long for.
 */
const printOf = (bytes: Uint8Array): string => {
  let [one, other] = [0x811c9dc5, bytes.length];
  // An iterator takes several times as long.
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul((other ^ byte) + (other >>> 15), 0x85ebca6b);
  }
  return `${(one >>> 0).toString(16)}-${(other >>> 0).toString(16)}`;
};

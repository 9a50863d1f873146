/**
 * The bytes of a reply that the kubelet reads.
 *
 * Source: pkg/probe/exec/exec.go maxReadLength, pkg/probe/http/http.go maxRespBodyLength
 */
export const MAX_OUTPUT_BYTES = 10 * 1024;

/** Joins outputs in their order, cut at `MAX_OUTPUT_BYTES`. */
export const cutOutput = (stdout: Uint8Array, stderr: Uint8Array): string => {
  const all = new Uint8Array(Math.min(stdout.length + stderr.length, MAX_OUTPUT_BYTES));
  all.set(stdout.subarray(0, all.length));
  all.set(stderr.subarray(0, Math.max(0, all.length - stdout.length)), Math.min(stdout.length, all.length));
  return new TextDecoder().decode(all);
};

/**
 * As much of an answer as the kubelet looks at, in bytes.
 *
 * Source: pkg/probe/exec/exec.go maxReadLength, pkg/probe/http/http.go maxRespBodyLength
 */
export const MAX_OUTPUT_BYTES = 10 * 1024;

/** What was printed, the one after the other, as far as it goes into `MAX_OUTPUT_BYTES`. */
export const cutOutput = (stdout: Uint8Array, stderr: Uint8Array): string => {
  const all = new Uint8Array(Math.min(stdout.length + stderr.length, MAX_OUTPUT_BYTES));
  all.set(stdout.subarray(0, all.length));
  all.set(stderr.subarray(0, Math.max(0, all.length - stdout.length)), Math.min(stdout.length, all.length));
  return new TextDecoder().decode(all);
};

/** The fields of a request that determine the deadline of its call. Timeouts are seconds, as on the wire. */
export interface TimedRequest {
  readonly timeout?: bigint | number | string | undefined;
}

/**
 * Returns the milliseconds after which a CRI call is cancelled; undefined for a call without a deadline. `call` is the
 * CRI method. A new sandbox may have to pull its image, hence twice the time; the timeout of a stop or a command is
 * added to the deadline, that of a checkpoint may lengthen it.
 *
 * Source: cri-client/pkg/remote_runtime.go, remote_image.go.
 */
export const callDeadlineMs = (
  call: string,
  { timeout = 0n }: TimedRequest,
  requestTimeoutMs: number,
): number | undefined => {
  const seconds = Math.max(0, Number(timeout));
  switch (call) {
    case 'RunPodSandbox':
      return 2 * requestTimeoutMs;
    case 'StopContainer':
      return requestTimeoutMs + seconds * 1_000;
    case 'ExecSync':
      return seconds === 0 ? undefined : requestTimeoutMs + seconds * 1_000;
    case 'CheckpointContainer':
      return Math.max(requestTimeoutMs, seconds * 1_000);
    case 'PullImage':
    case 'GetContainerEvents':
      return undefined;
    default:
      return requestTimeoutMs;
  }
};

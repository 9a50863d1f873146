/** What of a request decides how long its call may take. Timeouts are seconds, as on the wire. */
export interface TimedRequest {
  readonly timeout?: bigint | number | string | undefined;
}

/**
 * Milliseconds after which a CRI call is given up; undefined when it may take as long as it likes. `call` is the CRI method.
 * A new sandbox may need its image, hence twice the time; a stop and a command get their own time on top.
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
    case 'PullImage':
    case 'GetContainerEvents':
      return undefined;
    default:
      return requestTimeoutMs;
  }
};

/** How a command or an attachment ended; `undefined` is success. */
export type CommandFailure =
  | { readonly kind: 'exit'; readonly exitCode: number; readonly message: string }
  | { readonly kind: 'error'; readonly message: string };

/**
 * The text on the error stream: a document since version 4, before that the message of a failure or nothing.
 * Source: k8s.io/kubelet/pkg/cri/streaming/remotecommand/exec.go, websocket.go
 */
export const statusText = (failure: CommandFailure | undefined, hasDocument: boolean): string => {
  if (!hasDocument) return failure?.message ?? '';
  if (!failure) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify(
    failure.kind === 'exit'
      ? {
          metadata: {},
          status: 'Failure',
          message: `command terminated with non-zero exit code: ${failure.message}`,
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: String(failure.exitCode) }] },
        }
      : {
          metadata: {},
          status: 'Failure',
          message: `Internal error occurred: ${failure.message}`,
          reason: 'InternalError',
          details: { causes: [{ message: failure.message }] },
          code: 500,
        },
  );
};

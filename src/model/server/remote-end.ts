/** The end of a command, or of an attachment, as the error stream of its session reports it. */
export type RemoteEnd =
  { readonly kind: 'ended'; readonly exitCode: number } | { readonly kind: 'failed'; readonly message: string };

interface StatusDocument {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

const failed = (message: string): RemoteEnd => ({ kind: 'failed', message });

/**
 * Reads the whole text of an error stream of version 4. A stream without a text was cut off; kubectl takes it for a success.
 *
 * Source: staging/src/k8s.io/client-go/tools/remotecommand/v4.go errorDecoderV4
 */
export const remoteEnd = (text: string): RemoteEnd => {
  if (text === '') return failed('the connection was closed before the end was reported');
  let document: StatusDocument | null;
  try {
    document = JSON.parse(text) as StatusDocument | null;
  } catch (error) {
    return failed(`error stream protocol error: ${String(error)} in ${JSON.stringify(text)}`);
  }
  if (document?.status === 'Success') return { kind: 'ended', exitCode: 0 };
  if (document?.status !== 'Failure') return failed('error stream protocol error: unknown error');
  if (document.reason !== 'NonZeroExitCode') return failed(document.message ?? 'unknown error');
  const cause = document.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (cause === undefined) return failed('error stream protocol error: no ExitCode cause given');
  if (!/^\d{1,3}$/.test(cause)) {
    return failed(`error stream protocol error: invalid exit code value ${JSON.stringify(cause)}`);
  }
  return { kind: 'ended', exitCode: Number(cause) };
};

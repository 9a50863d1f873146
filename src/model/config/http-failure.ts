/** The progress of a failed request: no reply, or a reply whose body was not complete. */
export type HttpFailureStage = 'request' | 'body';

/** A request without a complete reply. The message uses the kubelet's text if the kubelet has one. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';

  constructor(
    readonly stage: HttpFailureStage,
    message: string,
    /** `isPlainHttp`: the server does not support TLS, but the client used it. */
    readonly options: ErrorOptions & { readonly isPlainHttp?: boolean } = {},
  ) {
    super(message, options);
  }
}

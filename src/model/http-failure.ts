/** How far a request got: no answer, or an answer whose body did not come through. */
export type HttpFailureStage = 'request' | 'body';

/** A request that did not get its answer, in the words of the kubelet where there are such. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';

  constructor(
    readonly stage: HttpFailureStage,
    message: string,
    /** `isPlainHttp`: TLS was spoken to a server that does not speak it. */
    readonly options: ErrorOptions & { readonly isPlainHttp?: boolean } = {},
  ) {
    super(message, options);
  }
}

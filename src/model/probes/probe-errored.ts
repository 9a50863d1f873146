/** A probe without a result about its container. `state` is the result in the kubelet's event. */
export class ProbeErrored extends Error {
  override readonly name = 'ProbeErrored';

  constructor(
    message: string,
    readonly state: 'unknown' | 'failure',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

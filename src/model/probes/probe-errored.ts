/** A probe that found nothing out about its container. `state` is what the kubelet's event says that it resulted in. */
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

/** The spec of a container cannot be turned into a configuration for the runtime; `message` is what the waiting state shows. */
export class CreateContainerConfigError extends Error {
  override readonly name = 'CreateContainerConfigError';
}

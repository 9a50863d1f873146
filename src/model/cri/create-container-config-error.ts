/** The spec of a container cannot be turned into a configuration for the runtime. The waiting state shows `message`. */
export class CreateContainerConfigError extends Error {
  override readonly name = 'CreateContainerConfigError';
}

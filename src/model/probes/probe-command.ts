import { expandWords } from '../cri/expansion.js';
import type { Container } from '../pod/pod.js';

/**
 * Returns the command of an exec probe. References are replaced by the unexpanded `value` of the container's own
 * variables: a variable with `valueFrom` is empty here, and one of `envFrom` or of a service is unknown.
 *
 * Errors: the command is too long.
 * Source: pkg/kubelet/container/helpers.go ExpandContainerCommandOnlyStatic
 */
export const probeCommand = (command: readonly string[], { env = [] }: Container): string[] => {
  const values = new Map(env.map(({ name, value = '' }) => [name, value]));
  return expandWords(command, (name) => values.get(name));
};

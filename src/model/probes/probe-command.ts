import { expand } from '../cri/expansion.js';
import type { Container } from '../pod.js';

/**
 * The command of an exec probe. References see the `value` of the container's own variables as it stands: a variable that
 * takes its value from elsewhere is empty here, and one that comes through `envFrom` or tells of a service is not known.
 *
 * Source: pkg/kubelet/container/helpers.go ExpandContainerCommandOnlyStatic
 */
export const probeCommand = (command: readonly string[], { env = [] }: Container): string[] => {
  const values = new Map(env.map(({ name, value = '' }) => [name, value]));
  return command.map((argument) => expand(argument, (name) => values.get(name)));
};

import type { RuntimeHandler } from '../../generated/runtime/v1/api.js';
import { CreateContainerConfigError } from '../cri/create-container-config-error.js';

/** The fields of an entry of `volumeMounts` that decide. */
export interface ReadOnlyMount {
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
  readonly mountPropagation?: string;
}

/**
 * Whether the mounts below a mount are read-only too.
 *
 * Errors: `CreateContainerConfigError` if the mount cannot be recursively read-only.
 * Source: pkg/kubelet/kubelet_pods.go resolveRecursiveReadOnly
 */
export const resolveRecursiveReadOnly = (
  { name, readOnly, recursiveReadOnly = 'Disabled', mountPropagation = 'None' }: ReadOnlyMount,
  isSupported: boolean,
): boolean => {
  if (recursiveReadOnly === 'Disabled') return false;
  const refuse = (why: string): CreateContainerConfigError =>
    new CreateContainerConfigError(`failed to resolve recursive read-only mode: ${why}`);
  const requested = `volume ${JSON.stringify(name)} requested recursive read-only mode, but it is`;
  if (!readOnly) throw refuse(`${requested} not read-only`);
  if (mountPropagation !== 'None')
    throw refuse(`${requested} not compatible with propagation ${JSON.stringify(mountPropagation)}`);
  if (recursiveReadOnly === 'IfPossible') return isSupported;
  if (recursiveReadOnly !== 'Enabled')
    throw refuse(`unknown recursive read-only mode ${JSON.stringify(recursiveReadOnly)}`);
  if (!isSupported) throw refuse(`${requested} not supported by the runtime`);
  return true;
};

/**
 * Whether a handler of the runtime can make the mounts below a mount read-only too; false for an unknown handler, and before the
 * first status of the runtime. The default handler has no name.
 *
 * Source: pkg/kubelet/kubelet_pods.go runtimeHandlerSupportsRecursiveReadOnlyMounts
 */
export const supportsRecursiveReadOnly = (name: string, handlers: readonly RuntimeHandler[] = []): boolean =>
  handlers.find((handler) => handler.name === name)?.features?.recursiveReadOnlyMounts ?? false;

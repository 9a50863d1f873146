/** A path of exec, attach or port-forward. */
export interface StreamPath {
  readonly kind: 'exec' | 'attach' | 'portForward';
  readonly namespace: string;
  readonly pod: string;
  readonly uid?: string;
  /** Absent for port-forward alone. */
  readonly container?: string;
}

const KINDS = ['exec', 'attach', 'portForward'] as const;

/**
 * Returns the parts of a decoded path; undefined for every path that is none of these three.
 *
 * Source: pkg/kubelet/server/server.go InstallDebuggingHandlers
 */
export const streamPath = (path: string): StreamPath | undefined => {
  const [root, first, ...parts] = path.replace(/(.)\/$/, '$1').split('/');
  const kind = KINDS.find((one) => one === first);
  if (root !== '' || !kind || parts.includes('')) return undefined;
  const [namespace, pod, ...others] = parts;
  if (namespace === undefined || pod === undefined) return undefined;
  const names = kind === 'portForward' ? ['uid'] : others.length === 1 ? ['container'] : ['uid', 'container'];
  const isWhole = others.length === names.length || (kind === 'portForward' && others.length === 0);
  if (!isWhole) return undefined;
  return { kind, namespace, pod, ...Object.fromEntries(others.map((part, index) => [names[index]!, part])) };
};

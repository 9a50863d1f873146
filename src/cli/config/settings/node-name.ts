/**
 * The name of this node.
 *
 * Errors: `empty hostname is invalid`.
 * Source: GetHostname in pkg/util/node/node.go.
 */
export const nodeName = (hostnameOverride: string, hostname: string): string => {
  const name = (hostnameOverride || hostname).trim().toLowerCase();
  if (name === '') throw new Error('empty hostname is invalid');
  return name;
};

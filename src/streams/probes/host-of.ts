import type { ProbeTarget } from '../ports.js';

/**
 * Whom a probe asks: the host that it names, or else the pod.
 *
 * Errors: there is neither. The node itself would answer to an empty name.
 */
export const hostOf = (
  { host }: { readonly host?: string | undefined },
  { podIp }: Pick<ProbeTarget, 'podIp'>,
): string => {
  const name = host || podIp;
  if (name === '') throw new Error('the pod has no address yet');
  return name;
};

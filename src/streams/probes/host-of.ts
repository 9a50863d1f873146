import type { ProbeTarget } from '../ports/probe-handlers.js';

/**
 * Returns the host of a probe: the one that it names, or else the address of the pod.
 *
 * Errors: there is neither. With an empty name the node itself would answer.
 */
export const hostOf = (
  { host }: { readonly host?: string | undefined },
  { podIp }: Pick<ProbeTarget, 'podIp'>,
): string => {
  const name = host || podIp;
  if (name === '') throw new Error('the pod has no address yet');
  return name;
};

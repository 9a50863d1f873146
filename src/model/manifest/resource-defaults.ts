import type { V1ResourceRequirements } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';
import { roundedToMillis } from '../resources/resource-list.js';

/** Limits and requests, rounded up to a thousandth. */
export const inMillis = (resources: Json<V1ResourceRequirements>): Json<V1ResourceRequirements> => ({
  ...resources,
  ...(resources.limits && { limits: roundedToMillis(resources.limits) }),
  ...(resources.requests && { requests: roundedToMillis(resources.requests) }),
});

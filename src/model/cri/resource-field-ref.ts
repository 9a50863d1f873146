import type { NodeFacts } from '../node/node-facts.js';
import type { Container, Pod } from '../pod/pod.js';
import { parseQuantity } from '../resources/quantity.js';
import { isPodLevelResource } from '../resources/resource-list.js';
import { CreateContainerConfigError } from './create-container-config-error.js';
import { firstNamed } from '../values/indexed-lists.js';

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

/**
 * Returns the value of a `resourceFieldRef`: the amount divided and rounded up, as an integer. A limit that is unset or
 * 0 is the pod's limit, else the capacity of the node; an unset request is 0.
 *
 * Errors: `CreateContainerConfigError` for an unknown container, resource or quantity.
 * Source: pkg/api/v1/resource/helpers.go ExtractContainerResourceValue, pkg/kubelet/kubelet_resources.go.
 */
export const resourceFieldValue = (
  pod: Pod,
  container: Container,
  { containerName, resource, divisor = '1' }: ResourceFieldSelector,
  { allocatable }: Pick<NodeFacts, 'allocatable'>,
): string => {
  const of = containerName ? containerNamed(pod, containerName) : container;
  const [kind, name] = [resource.slice(0, resource.indexOf('.')), resource.slice(resource.indexOf('.') + 1)];
  const isNodeResource = NODE_RESOURCES.has(name);
  if ((kind !== 'limits' && kind !== 'requests') || !(isNodeResource || name.startsWith('hugepages-'))) {
    throw new CreateContainerConfigError(`unsupported container resource : ${resource}`);
  }
  const own = amountOf(of.resources?.[kind]?.[name] ?? '0', resource);
  const isUnset = kind === 'limits' && isNodeResource && own === 0n;
  const amount = isUnset ? amountOf(limitOf(pod, name) ?? allocatable[name] ?? '0', resource) : own;
  const unit = amountOf(divisor, `the divisor of ${resource}`) || ONE;
  // CPU is compared in thousandths, everything else in whole units.
  const scale = name === 'cpu' ? 1_000_000n : 1_000_000_000n;
  return divideUp(divideUp(amount, scale), divideUp(unit, scale)).toString();
};

/** The pod's own limit, if it is above 0. */
const limitOf = ({ spec }: Pod, name: string): string | undefined => {
  const limit = isPodLevelResource(name) ? spec.resources?.limits?.[name] : undefined;
  return limit !== undefined && parseQuantity(limit) !== 0n ? limit : undefined;
};

const ONE = 1_000_000_000n;
const NODE_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const containerNamed = ({ spec }: Pod, wanted: string): Container => {
  const found = firstNamed(spec.containers, wanted) ?? firstNamed(spec.initContainers ?? [], wanted);
  if (found) return found;
  throw new CreateContainerConfigError(`container ${wanted} not found`);
};

const amountOf = (text: string, what: string): bigint => {
  const amount = parseQuantity(text);
  if (amount !== undefined) return amount;
  throw new CreateContainerConfigError(`${what}: ${JSON.stringify(text)} is not a quantity`);
};

const divideUp = (amount: bigint, divisor: bigint): bigint => (amount + divisor - 1n) / divisor;

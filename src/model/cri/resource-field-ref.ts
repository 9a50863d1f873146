import type { NodeFacts } from '../node-facts.js';
import type { Container, Pod } from '../pod.js';
import { parseQuantity } from '../quantity.js';
import { CreateContainerConfigError } from './create-container-config-error.js';

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

/**
 * What a `resourceFieldRef` stands for: the amount divided and rounded up, as an integer. A limit that nobody set is the pod's,
 * or else all that the node can give; a request that nobody set is 0.
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
  const own = of.resources?.[kind]?.[name];
  const text =
    own ??
    (kind === 'limits' && isNodeResource ? (pod.spec.resources?.limits?.[name] ?? allocatable[name]) : undefined);

  const amount = amountOf(text ?? '0', resource);
  const unit = amountOf(divisor === '0' ? '1' : divisor, `the divisor of ${resource}`);
  // CPU is compared in thousandths, everything else in whole units.
  const scale = name === 'cpu' ? 1_000_000n : 1_000_000_000n;
  return divideUp(divideUp(amount, scale), divideUp(unit, scale)).toString();
};

const NODE_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const containerNamed = ({ spec }: Pod, wanted: string): Container => {
  const found = [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === wanted);
  if (found) return found;
  throw new CreateContainerConfigError(`container ${wanted} not found`);
};

const amountOf = (text: string, what: string): bigint => {
  const amount = parseQuantity(text);
  if (amount !== undefined) return amount;
  throw new CreateContainerConfigError(`${what}: ${JSON.stringify(text)} is not a quantity`);
};

const divideUp = (amount: bigint, divisor: bigint): bigint => (amount + divisor - 1n) / divisor;

import type { Container, Pod } from '../pod/pod.js';
import { quantity } from '../resources/quantity.js';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';
type Amounts = Readonly<Record<string, string>> | undefined;

/**
 * Returns the QoS class of the pod; the class in its status never changes.
 *
 * Source: pkg/apis/core/v1/helper/qos/qos.go GetPodQOS.
 */
export const qosClass = (pod: Pod): QosClass => (pod.status?.qosClass as QosClass | undefined) ?? computeQosClass(pod);

/**
 * Only CPU and memory count, and only amounts above zero. The resources of the pod as a whole decide if they hold a request or a limit.
 *
 * Source: pkg/apis/core/v1/helper/qos/qos.go ComputePodQOS.
 */
export const computeQosClass = ({ spec }: Pod): QosClass => {
  const holders: readonly Pick<Container, 'resources'>[] = hasAmounts(spec.resources)
    ? [{ resources: spec.resources }]
    : [...spec.containers, ...(spec.initContainers ?? [])];
  const requests = sum(holders.map(({ resources }) => resources?.requests));
  const limits = sum(holders.map(({ resources }) => resources?.limits));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';

  const allLimited = holders.every(({ resources }) => COUNTED.every((name) => amount(resources?.limits, name) > 0n));
  const asLimited = [...requests].every(([name, requested]) => limits.get(name) === requested);
  return allLimited && asLimited && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
};

const hasAmounts = (resources: Pod['spec']['resources']): boolean =>
  [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).length > 0);

const COUNTED = ['cpu', 'memory'] as const;

const amount = (amounts: Amounts, name: string): bigint => quantity(amounts?.[name] ?? '0');

const sum = (lists: readonly Amounts[]): ReadonlyMap<string, bigint> =>
  new Map(
    COUNTED.map((name) => [name, lists.map((list) => amount(list, name)).reduce((a, b) => a + b, 0n)] as const).filter(
      ([, total]) => total > 0n,
    ),
  );

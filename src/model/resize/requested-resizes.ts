import { type Amounts, isSameAmount } from '../pod/allocated-resources.js';
import type { Container, Pod } from '../pod/pod.js';
import { parseQuantity } from '../resources/quantity.js';
import { firstNamed } from '../values/indexed-lists.js';

/** One change of one amount of one container. */
export interface RequestedResize {
  readonly resource: 'cpu' | 'memory';
  readonly requirement: 'requests' | 'limits';
  readonly operation: 'add' | 'remove' | 'increase' | 'decrease';
}

/**
 * Returns what a version of a pod asks for that the version before did not.
 *
 * Source: pkg/kubelet/kubelet.go recordContainerResizeOperations
 */
export const requestedResizes = (before: Pod, asked: Pod): readonly RequestedResize[] => {
  const known = containersOf(before);
  return containersOf(asked).flatMap(({ name, resources }) => {
    const old = firstNamed(known, name);
    return old ? changesOf(old.resources ?? {}, resources ?? {}) : [];
  });
};

const containersOf = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];

const changesOf = (before: Amounts, asked: Amounts): readonly RequestedResize[] =>
  (['memory', 'cpu'] as const).flatMap((resource) =>
    (['requests', 'limits'] as const).flatMap((requirement) => {
      const [old, wanted] = [before[requirement]?.[resource], asked[requirement]?.[resource]];
      return isSameAmount(old, wanted) ? [] : [{ resource, requirement, operation: operationOf(old, wanted) }];
    }),
  );

const operationOf = (old: string | undefined, wanted: string | undefined): RequestedResize['operation'] => {
  if (old === undefined) return 'add';
  if (wanted === undefined) return 'remove';
  return (parseQuantity(wanted) ?? 0n) > (parseQuantity(old) ?? 0n) ? 'increase' : 'decrease';
};

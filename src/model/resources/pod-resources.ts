import { type Container, isSidecar, type Pod } from '../pod/pod.js';
import { type Nanos, quantity } from './quantity.js';

export type ResourceAmounts = ReadonlyMap<string, Nanos>;
type Kind = 'requests' | 'limits';

/**
 * The requests or limits of the pod as a whole, without its overhead: the larger of the sum of the containers that run
 * together and of the peak during initialization. Requests and limits of the pod itself replace it.
 *
 * Source: staging/src/k8s.io/component-helpers/resource/helpers.go PodRequests, PodLimits.
 */
export const podAmounts = ({ spec }: Pod, kind: Kind): ResourceAmounts => {
  const sidecars = new Map<string, Nanos>();
  const peak = new Map<string, Nanos>();
  for (const container of spec.initContainers ?? []) {
    for (const [name, own] of amountsOf(container, kind)) {
      const beside = (sidecars.get(name) ?? 0n) + own;
      if (isSidecar(container)) sidecars.set(name, beside);
      // The sum of the containers that run together has all that sidecars alone take.
      else if (beside >= (peak.get(name) ?? 0n)) peak.set(name, beside);
    }
  }
  const together = new Map(sidecars);
  for (const container of spec.containers) {
    for (const [name, own] of amountsOf(container, kind)) together.set(name, (together.get(name) ?? 0n) + own);
  }
  const ofPod = Object.entries(spec.resources?.[kind] ?? {}).map(([name, text]) => [name, quantity(text)] as const);
  return new Map([...maximum(together, peak), ...ofPod]);
};

/** Adds the overhead of the sandbox to `podAmounts`. Overhead raises a limit, but does not create one. */
export const podAmountsWithOverhead = (pod: Pod, kind: Kind): ResourceAmounts => {
  const amounts = podAmounts(pod, kind);
  const overhead = toAmounts(pod.spec.overhead);
  if (kind === 'requests') return sum(amounts, overhead);
  return new Map([...amounts].map(([name, value]) => [name, value > 0n ? value + (overhead.get(name) ?? 0n) : value]));
};

export const amountsOf = ({ resources }: Pick<Container, 'resources'>, kind: Kind): ResourceAmounts =>
  toAmounts(resources?.[kind]);

const toAmounts = (texts: Readonly<Record<string, string>> = {}): ResourceAmounts =>
  new Map(Object.entries(texts).map(([name, text]) => [name, quantity(text)]));

const combine =
  (by: (a: Nanos, b: Nanos) => Nanos) =>
  (left: ResourceAmounts, right: ResourceAmounts): ResourceAmounts =>
    new Map([
      ...left,
      ...[...right].map(([name, value]) => [name, left.has(name) ? by(left.get(name)!, value) : value] as const),
    ]);
const sum = combine((a, b) => a + b);
const maximum = combine((a, b) => (a > b ? a : b));

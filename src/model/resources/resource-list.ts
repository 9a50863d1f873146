import { isSidecar, type Pod, type PodSpec } from '../pod/pod.js';
import {
  formatOf,
  formatQuantity,
  type Nanos,
  parseQuantity,
  type QuantityFormat,
  roundUpToMillis,
} from './quantity.js';

/** Amounts by the name of their resource, in the API's text. */
export type ResourceList = Readonly<Record<string, string>>;
type Kind = 'requests' | 'limits';

/**
 * The amounts of all containers of a pod at the peak: all regular containers and sidecars together, or one init
 * container with the sidecars before it.
 *
 * Source: staging/src/k8s.io/component-helpers/resource/helpers.go AggregateContainerRequests,
 * AggregateContainerLimits.
 */
export const containersTogether = (spec: PodSpec, kind: Kind): ResourceList => toTexts(aggregate(spec, kind));

/**
 * The requests of the pod as a whole: its own requests replace those of its containers; its overhead is added.
 *
 * Source: staging/src/k8s.io/component-helpers/resource/helpers.go PodRequests.
 */
export const podRequests = ({ spec }: Pod): ResourceList =>
  toTexts(sum(new Map([...aggregate(spec, 'requests'), ...ofPod(spec, 'requests')]), toAmounts(spec.overhead)));

/**
 * The limits of the pod as a whole. Overhead raises a limit, but does not create one.
 *
 * Source: staging/src/k8s.io/component-helpers/resource/helpers.go PodLimits.
 */
export const podLimits = ({ spec }: Pod): ResourceList => {
  const limits = new Map([...aggregate(spec, 'limits'), ...ofPod(spec, 'limits')]);
  const raised = [...toAmounts(spec.overhead)].filter(([name]) => (limits.get(name)?.nanos ?? 0n) !== 0n);
  return toTexts(sum(limits, new Map(raised)));
};

/** Source: staging/src/k8s.io/component-helpers/resource/helpers.go IsSupportedPodLevelResource. */
export const isPodLevelResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/**
 * Returns the amounts in the API's canonical text (`500m` for `0.5`), rounded up to a thousandth. Any other text would
 * differ from the API server's, and the agent would write it again and again.
 *
 * Source: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList.
 */
export const roundedToMillis = (list: ResourceList): ResourceList =>
  Object.fromEntries(
    Object.entries(list).map(([name, text]) => {
      const nanos = parseQuantity(text);
      if (nanos === undefined) return [name, text];
      return [name, formatQuantity(roundUpToMillis(nanos), formatOf(text))];
    }),
  );

interface Amount {
  readonly nanos: Nanos;
  readonly format: QuantityFormat;
}
type Amounts = ReadonlyMap<string, Amount>;

const aggregate = (spec: PodSpec, kind: Kind): Amounts => {
  const sidecars = new Map<string, Amount>();
  const peak = new Map<string, Amount>();
  const together = new Map<string, Amount>();
  const add = (to: Map<string, Amount>, name: string, own: Amount): unknown => to.set(name, plus(to.get(name), own));
  for (const { resources } of spec.containers) {
    for (const [name, own] of toAmounts(resources?.[kind])) add(together, name, own);
  }
  for (const container of spec.initContainers ?? []) {
    for (const [name, own] of toAmounts(container.resources?.[kind])) {
      if (isSidecar(container)) {
        add(together, name, own);
        add(sidecars, name, own);
        continue;
      }
      // The sum of the containers that run together has all that sidecars alone take.
      const [beside, before] = [sidecars.get(name), peak.get(name)];
      const all = beside ? plus(own, beside) : own;
      if (!before || all.nanos > before.nanos) peak.set(name, all);
    }
  }
  return maximum(together, peak);
};

const ofPod = ({ resources }: PodSpec, kind: Kind): Amounts =>
  new Map([...toAmounts(resources?.[kind])].filter(([name]) => isPodLevelResource(name)));

const toAmounts = (texts: ResourceList = {}): Amounts =>
  new Map(
    Object.entries(texts).map(([name, text]) => [name, { nanos: parseQuantity(text) ?? 0n, format: formatOf(text) }]),
  );

const toTexts = (amounts: Amounts): ResourceList =>
  Object.fromEntries([...amounts].map(([name, { nanos, format }]) => [name, formatQuantity(nanos, format)]));

const combine =
  (by: (left: Amount, right: Amount) => Amount) =>
  (lefts: Amounts, rights: Amounts): Amounts =>
    new Map([
      ...lefts,
      ...[...rights].map(([name, right]) => {
        const left = lefts.get(name);
        return [name, left ? by(left, right) : right] as const;
      }),
    ]);

// A sum has the format of its first amount, unless that is zero. Source: quantity.go Add
const plus = (left: Amount | undefined, right: Amount): Amount =>
  left ? { nanos: left.nanos + right.nanos, format: left.nanos === 0n ? right.format : left.format } : right;
const sum = combine(plus);
const maximum = combine((left, right) => (right.nanos > left.nanos ? right : left));

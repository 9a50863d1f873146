import { formatPod, type Pod } from '../pod/pod.js';
import { formatOf, formatQuantity, type Nanos, parseQuantity, type QuantityFormat } from '../resources/quantity.js';
import type { ContainerFigures, SignalObservations, PodFigures } from './figures.js';
import type { MeasuredPod } from './rank-pods.js';
import { SIGNALS, type StarvedResource } from './signals.js';
import { amountOf, type Threshold } from './thresholds.js';

const NANOS = 1_000_000_000n;

const amountText = (amount: number, format: QuantityFormat): string =>
  formatQuantity(BigInt(Math.trunc(amount)) * NANOS, format);

/** The threshold and what is available, as texts. */
const measured = (
  { signal, value }: Threshold,
  observations: SignalObservations,
): { readonly quantity: string; readonly available: string } | undefined => {
  const observation = observations[signal];
  if (!observation) return undefined;
  const { format } = SIGNALS[signal];
  return {
    quantity: amountText(amountOf(value, observation.capacity), 'format' in value ? value.format : 'BinarySI'),
    available: amountText(observation.available, format),
  };
};

/** A container, or a pod as a whole, that uses more of the starved resource than it requests. */
interface Offender {
  readonly name: string;
  readonly usage: string;
  readonly request: string;
}

/** The message of an eviction, and the annotations of its event. */
export interface EvictionMessage {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Returns the message about the eviction of a pod for a threshold, in the words of the kubelet.
 *
 * Source: pkg/kubelet/eviction/helpers.go evictionMessage
 */
export const evictionMessage = (
  { pod, figures }: MeasuredPod,
  threshold: Threshold,
  observations: SignalObservations,
): EvictionMessage => {
  const { resource } = SIGNALS[threshold.signal];
  const amounts = measured(threshold, observations);
  const ofPod = figures && podOffender(pod, figures, resource);
  const containers = figures ? offenders(pod, figures, resource) : [];
  const sentence = (kind: string, { name, usage, request }: Offender): string =>
    `${kind} ${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `;
  return {
    message: [
      `The node was low on resource: ${resource}. `,
      ...(amounts ? [`Threshold quantity: ${amounts.quantity}, available: ${amounts.available}. `] : []),
      ...(ofPod ? [sentence('Pod', ofPod)] : []),
      ...containers.map((each) => sentence('Container', each)),
    ].join(''),
    annotations: {
      ...(ofPod && { offending_pod: ofPod.name, offending_pod_usage: ofPod.usage }),
      offending_containers: containers.map(({ name }) => name).join(','),
      offending_containers_usage: containers.map(({ usage }) => usage).join(','),
      starved_resource: resource,
    },
  };
};

/** Returns the pod if it has a request of its own and uses more. */
const podOffender = (
  { spec, metadata }: Pod,
  { workingSet }: PodFigures,
  resource: StarvedResource,
): Offender | undefined => {
  const request = spec.resources?.requests?.[resource];
  if (resource !== 'memory' || request === undefined) return undefined;
  return offender(metadata.name, workingSet, request);
};

const offenders = ({ spec }: Pod, { containers }: PodFigures, resource: StarvedResource): readonly Offender[] =>
  containers.flatMap((figures) => {
    const container = [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === figures.name);
    if (!container) return [];
    return offender(figures.name, usageOf(figures, resource), container.resources?.requests?.[resource] ?? '0') ?? [];
  });

const usageOf = ({ workingSet, rootfs, logs }: ContainerFigures, resource: StarvedResource): number | undefined => {
  if (resource === 'memory') return workingSet;
  if (resource !== 'ephemeral-storage' || rootfs?.bytes === undefined || logs?.bytes === undefined) return undefined;
  return rootfs.bytes + logs.bytes;
};

const offender = (name: string, usage: number | undefined, request: string): Offender | undefined => {
  const requested: Nanos = parseQuantity(request) ?? 0n;
  if (usage === undefined || BigInt(Math.trunc(usage)) * NANOS <= requested) return undefined;
  return { name, usage: amountText(usage, 'BinarySI'), request: formatQuantity(requested, formatOf(request)) };
};

/** The pods that may be evicted, of which the first one is. */
export interface EvictionOrder {
  /** Their number. */
  readonly candidates: number;
  /** The pod that would be next. */
  readonly next: Pod | undefined;
}

/** Returns the reason of an eviction in plain words, for the journal: the signal, its amounts, and the order of the pods. */
export const evictionReason = (
  threshold: Threshold,
  observations: SignalObservations,
  { candidates, next }: EvictionOrder,
): string => {
  const { resource } = SIGNALS[threshold.signal];
  const amounts = measured(threshold, observations);
  const shortage = amounts ? `${amounts.available} available, less than ${amounts.quantity}` : 'amount not known';
  const others = next ? `, the next one would be ${formatPod(next)}` : '';
  return `the node is short of ${resource} (${threshold.signal}: ${shortage}); the pod ranks first of ${candidates}${others}`;
};

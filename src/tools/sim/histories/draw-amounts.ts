import type { Amounts } from '../../../model/pod/allocated-resources.js';
import type { Container, PodSpec } from '../../../model/pod/pod.js';
import type { SeededRandom } from '../world/seeded-random.js';

/** The CPU of the node of a resize history, in thousandths, and its memory in MiB. */
export const NODE_CPU = 2_000;
export const NODE_MEMORY = 2_048;

/** What stays the same over all versions of a pod: a resize changes neither its QoS class, nor which amounts it has. */
export interface AmountsShape {
  /** `none` is BestEffort. */
  readonly kind: 'guaranteed' | 'limited' | 'requested' | 'none';
  /** The pod as a whole has amounts, too. */
  readonly hasPodAmounts: boolean;
  /** By container. */
  readonly policies: Readonly<Record<string, Policies>>;
}

type Policies = NonNullable<Container['resizePolicy']>;

/** The amounts of one version of a pod; those of its containers by their names. */
export interface DrawnAmounts {
  readonly containers: Readonly<Record<string, Amounts>>;
  readonly pod?: Amounts;
}

export const drawShape = (draw: SeededRandom, containers: readonly string[]): AmountsShape => ({
  kind: draw.pick(['guaranteed', 'limited', 'limited', 'requested', 'requested', 'none']),
  hasPodAmounts: draw.chance(0.2),
  policies: Object.fromEntries(containers.map((name) => [name, drawPolicies(draw)])),
});

const drawPolicies = (draw: SeededRandom): Policies =>
  (['cpu', 'memory'] as const).flatMap((resourceName) =>
    draw.chance(0.5)
      ? [{ resourceName, restartPolicy: draw.chance(0.5) ? 'RestartContainer' : 'NotRequired' } as const]
      : [],
  );

/** Draws amounts of which few pods have room for all at the same time. A resize often changes one container alone. */
export const drawAmounts = (
  draw: SeededRandom,
  { kind, hasPodAmounts }: AmountsShape,
  containers: readonly string[],
  before?: DrawnAmounts,
): DrawnAmounts => {
  if (kind === 'none') return { containers: {} };
  const drawn = Object.fromEntries(
    containers.map((name) => {
      const old = before?.containers[name];
      return [name, old && draw.chance(0.4) ? old : drawOne(draw, kind, old)] as const;
    }),
  );
  if (!hasPodAmounts) return { containers: drawn };
  const sum = (resource: 'cpu' | 'memory', of: 'requests' | 'limits'): number =>
    Object.values(drawn).reduce((total, amounts) => total + numberIn((amounts[of] ?? amounts.requests)?.[resource]), 0);
  const requests = amounts(sum('cpu', 'requests'), sum('memory', 'requests'));
  const limits = amounts(sum('cpu', 'limits') + 100, sum('memory', 'limits') + 64);
  return { containers: drawn, pod: kind === 'guaranteed' ? { requests: limits, limits } : { requests, limits } };
};

/** Sometimes only one of the two resources changes. */
const drawOne = (draw: SeededRandom, kind: AmountsShape['kind'], before: Amounts | undefined): Amounts => {
  const keeps = before ? draw.pick(['none', 'none', 'cpu', 'memory'] as const) : 'none';
  const requested = {
    cpu: draw.integer(1, before ? 20 : 6) * 50,
    memory: draw.integer(1, before ? 30 : 8) * 32,
  };
  const extra = { cpu: draw.integer(1, 5) * 100, memory: draw.integer(1, 5) * 32 };
  const of = (resource: 'cpu' | 'memory', kindOf: 'requests' | 'limits'): number =>
    keeps === resource
      ? numberIn(before?.[kindOf]?.[resource])
      : requested[resource] + (kindOf === 'limits' && kind === 'limited' ? extra[resource] : 0);
  const requests = amounts(of('cpu', 'requests'), of('memory', 'requests'));
  if (kind === 'requested') return { requests };
  return { requests, limits: amounts(of('cpu', 'limits'), of('memory', 'limits')) };
};

const amounts = (milliCpu: number, mebibytes: number) => ({ cpu: `${milliCpu}m`, memory: `${mebibytes}Mi` });

/** The number of a text of `amounts`. */
const numberIn = (text: string | undefined): number => Number.parseInt(text ?? '0', 10);

/** The spec with the amounts. Regular init containers have those of their pod's first version, since they are never resized. */
export const withDrawnAmounts = (
  spec: PodSpec,
  shape: AmountsShape,
  { now, first }: { readonly now: DrawnAmounts; readonly first: DrawnAmounts },
): PodSpec => {
  const given = (container: Container, { containers }: DrawnAmounts): Container => {
    const resources = containers[container.name];
    return resources ? { ...container, resources } : container;
  };
  const resized = (container: Container): Container => {
    // The API refuses a restart by a resize of what is never restarted.
    const isNeverRestarted = [container.restartPolicy, spec.restartPolicy].includes('Never');
    const policies = (shape.policies[container.name] ?? []).filter(
      ({ restartPolicy }) => !isNeverRestarted || restartPolicy !== 'RestartContainer',
    );
    return { ...given(container, now), ...(policies.length > 0 && { resizePolicy: policies }) };
  };
  return {
    ...spec,
    ...(now.pod && { resources: now.pod }),
    ...(spec.initContainers && {
      initContainers: spec.initContainers.map((container) =>
        container.restartPolicy === 'Always' ? resized(container) : given(container, first),
      ),
    }),
    containers: spec.containers.map(resized),
  };
};

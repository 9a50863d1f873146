import { keptSince } from './checkpoint-truth.js';
import type { Finding, Invariant } from './monitor.js';
import { amountsOfSpec, isSameInRuntime, runtimeAmounts, VISIBLE } from './pod-amounts.js';
import type { InstanceTruth } from './pod-truth.js';
import { ResizeLedger } from './resize-ledger.js';
import type { SimulatedResources } from '../world/world-event.js';

export const resizesAreKept: Invariant = {
  name: 'resizes-are-kept',
  rule: 'A container of a resized pod is created with, and given, only what the checkpoint on the disk says that its pod was given: no end of the agent or of the power takes a resize back.',
  source: 'pkg/kubelet/allocation/state/state_checkpoint.go',
  watch: (truth) => {
    const ledger = new ResizeLedger(truth);
    /**
     * What the checkpoint has had while the present run of the worker has lasted, which begins with one version and may end with another;
     * also what was allocated and has been replaced since then. Nothing if the checkpoint has no resize of the pod.
     */
    const given = (uid: string, container: string): readonly SimulatedResources[] => {
      const kept = keptSince(truth.allocated, uid, passSince(uid));
      if (kept.length === 0) return [];
      const replaced = ledger.allocated(uid).slice(0, -1).map(amountsOfSpec);
      return [...replaced, ...kept].map((amounts) => runtimeAmounts(amounts, container));
    };
    const passSince = (uid: string): number => truth.pods.get(uid)?.pass?.since ?? truth.lifeSince;
    /** Whether the checkpoint has no resize of the pod that is older than the run of its worker. */
    const isNewlyKept = (uid: string): boolean =>
      (keptSince(truth.allocated, uid, -Infinity)[0]?.since ?? Infinity) >= passSince(uid);
    /** What the instance has, has had, or has as far as the agent knows. */
    const had = ({ uid, container, resources, pastResources = [] }: InstanceTruth): readonly SimulatedResources[] => [
      ...(resources ? [resources] : []),
      ...pastResources.map((past) => past.resources),
      ...keptSince(truth.actuated, uid, -Infinity).map((kept) => runtimeAmounts(kept, container)),
    ];
    return {
      on: (event): readonly Finding[] | undefined => {
        ledger.on(event);
        if (event.kind === 'container-resources') {
          const { uid, container, resources } = event;
          const kept = given(uid, container);
          const isNew = truth.instances.get(event.containerId)?.resources === undefined;
          if (
            !isNew ||
            isNewlyKept(uid) ||
            kept.length === 0 ||
            RESOURCES.every((name) => isAmong(resources, kept, name))
          )
            return undefined;
          const message = `was created with ${text(resources)} (expected ${text(kept.at(-1)!)}, as in the checkpoint)`;
          return [{ uid, container, message }];
        }
        if (event.kind !== 'call' || event.call !== 'UpdateContainerResources') return undefined;
        const { uid = '', container = '', containerId = '' } = truth.subject(event);
        const instance = truth.instances.get(containerId);
        if (!instance) return undefined;
        const asked = askedOf(event.request);
        const kept = given(uid, container);
        if (kept.length === 0)
          return [{ uid, container, message: `is given ${text(asked)}, but no checkpoint has a resize of its pod` }];
        const wrong = RESOURCES.find((name) => !isAmong(asked, kept, name) && !isAmong(asked, had(instance), name));
        if (wrong === undefined) return undefined;
        const message = `is given ${text(asked)} (expected ${text(kept.at(-1)!)}, as in the checkpoint)`;
        return [{ uid, container, message }];
      },
    };
  },
};

const RESOURCES = Object.keys(VISIBLE) as readonly (keyof typeof VISIBLE)[];

const isAmong = (
  one: SimulatedResources,
  others: readonly SimulatedResources[],
  resource: keyof typeof VISIBLE,
): boolean => others.some((other) => isSameInRuntime(one, other, resource));

const text = ({ cpuShares, cpuQuota, memoryBytes }: SimulatedResources): string =>
  `${cpuShares} shares, a quota of ${cpuQuota} and ${memoryBytes} bytes`;

/** The amounts in the request of an update. */
export const askedOf = (request: object): SimulatedResources => {
  const { linux = {} } = request as { readonly linux?: Readonly<Record<string, bigint | undefined>> };
  const amount = (name: string): number => Math.max(0, Number(linux[name] ?? 0n));
  return {
    ...{ cpuShares: amount('cpuShares'), cpuQuota: amount('cpuQuota') },
    memoryBytes: amount('memoryLimitInBytes'),
  };
};

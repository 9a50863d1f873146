import { Map as ImmutableMap } from 'immutable';
import type { Amounts } from '../pod/allocated-resources.js';
import { parseQuantity } from '../resources/quantity.js';
import type { ResourceList } from '../resources/resource-list.js';
import { fnv1a32 } from '../values/fnv.js';
import type { ActuatedPod, Allocation, InstanceAmounts, KeptAmounts } from './pod-resizes.js';

/** The names of the checkpoints in the root directory of the agent. Source: pkg/kubelet/allocation/allocation_manager.go */
export const CHECKPOINT_NAMES = { allocated: 'allocated_pods_state', actuated: 'actuated_pods_state' } as const;
export type CheckpointName = (typeof CHECKPOINT_NAMES)[keyof typeof CHECKPOINT_NAMES];

/** Returns the content of a checkpoint, in the form of the kubelet. Source: pkg/kubelet/allocation/state/checkpoint.go */
export const formatAllocated = ({ allocated }: KeptAmounts): string =>
  formatEntries(allocated.map(({ containers, pod }): Entry => ({ containers, pod })));

/** The field `containerId` is of this agent: a kubelet leaves it out, and ignores it. */
export const formatActuated = ({ actuated }: KeptAmounts): string =>
  formatEntries(actuated.map(({ containers, pod }): Entry => ({ containers: containers.toObject(), pod })));

/** Errors: as `parseEntries`. */
export const parseAllocated = (text: string): KeptAmounts['allocated'] =>
  ImmutableMap(
    parseEntries(text).map(([uid, { containers, pod }]): [string, Allocation] => [
      uid,
      { containers, ...(pod && { pod }) },
    ]),
  );

/** Errors: as `parseEntries`. */
export const parseActuated = (text: string): KeptAmounts['actuated'] =>
  ImmutableMap(
    parseEntries(text).map(([uid, { containers, pod }]): [string, ActuatedPod] => [
      uid,
      { containers: ImmutableMap(containers), ...(pod && { pod }) },
    ]),
  );

interface Entry {
  readonly containers: Readonly<Record<string, InstanceAmounts>>;
  readonly pod: Amounts | undefined;
}

const formatEntries = (entries: ImmutableMap<string, Entry>): string => {
  const data = JSON.stringify({
    entries: Object.fromEntries(
      [...entries].map(([uid, { containers, pod }]) => [
        uid,
        { ContainerResources: containers, PodLevelResources: pod ?? null },
      ]),
    ),
  });
  return JSON.stringify({ data, checksum: checksumOf(data) });
};

/** Source: pkg/kubelet/checkpointmanager/checksum/checksum.go, over the dump of a Go string */
export const checksumOf = (data: string): number => fnv1a32(`(string)${data}`);

/**
 * Parses a checkpoint, also one that a kubelet has written.
 *
 * Errors: it is no JSON of the expected shape, it is damaged, or an amount is no quantity; with the field and the expected form.
 */
const parseEntries = (text: string): readonly (readonly [uid: string, entry: Entry])[] => {
  const { data, checksum } = objectAt(parsed(text), 'the file');
  if (typeof data !== 'string') throw new Error('data: expected a text with JSON');
  if (checksum !== checksumOf(data)) throw new Error('checkpoint is corrupted: the checksum is of another content');
  const { entries } = objectAt(parsed(data), 'data');
  return Object.entries(objectAt(entries ?? {}, 'entries')).map(([uid, value]) => {
    const at = `entries.${uid}`;
    const { ContainerResources, PodLevelResources } = objectAt(value, at);
    const containers = Object.entries(objectAt(ContainerResources ?? {}, `${at}.ContainerResources`)).map(
      ([name, amounts]) => [name, instanceAmounts(amounts, `${at}.ContainerResources.${name}`)] as const,
    );
    const pod = PodLevelResources ? amountsAt(PodLevelResources, `${at}.PodLevelResources`) : undefined;
    return [uid, { containers: Object.fromEntries(containers), pod }] as const;
  });
};

const parsed = (text: string): unknown => JSON.parse(text) as unknown;

const instanceAmounts = (value: unknown, at: string): InstanceAmounts => {
  const { containerId } = objectAt(value, at);
  return { ...amountsAt(value, at), ...(typeof containerId === 'string' && { containerId }) };
};

const amountsAt = (value: unknown, at: string): Amounts => {
  const { requests, limits } = objectAt(value, at);
  return {
    ...(requests !== undefined && { requests: quantitiesAt(requests, `${at}.requests`) }),
    ...(limits !== undefined && { limits: quantitiesAt(limits, `${at}.limits`) }),
  };
};

const quantitiesAt = (value: unknown, at: string): ResourceList => {
  const list = objectAt(value ?? {}, at);
  for (const [name, text] of Object.entries(list)) {
    if (typeof text === 'string' && parseQuantity(text) !== undefined) continue;
    throw new Error(`${at}.${name}: ${JSON.stringify(text)} is no quantity (expected a text such as 100m or 64Mi)`);
  }
  return list as ResourceList;
};

const objectAt = (value: unknown, at: string): Readonly<Record<string, unknown>> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${at}: expected an object`);
};

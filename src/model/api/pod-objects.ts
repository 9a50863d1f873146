import { type Pod, type PodRef, podRef } from '../pod.js';
import { type SourceProblem } from '../pod-set.js';
import { type ApiObject, objectKey } from './api-object.js';
import { foldReflected, type ReflectorEvent } from './reflector-event.js';

/** The pods of the API, and what cannot be one. */
export interface PodObjects {
  /** By namespace and name. */
  readonly pods: ReadonlyMap<string, Pod>;
  /** The version in which each of those is that cannot be read, by namespace and name. */
  readonly refused: ReadonlyMap<string, string>;
  /** Everything up to it is known; empty before the first list. */
  readonly resourceVersion: string;
}

export const NO_POD_OBJECTS: PodObjects = { pods: new Map(), refused: new Map(), resourceVersion: '' };

export type ObjectsEvent = Extract<ReflectorEvent, { kind: 'replaced' | 'put' | 'deleted' }>;

/**
 * The pods after one more event, kept whole: fields that nobody here knows stay. Of what lacks what the agent cannot do without nothing is
 * taken, so that a pod that was there before goes on as it was; each version of it is a problem once.
 *
 * Source: pkg/kubelet/config/apiserver.go
 */
export const foldPodObjects = (
  state: PodObjects,
  event: ObjectsEvent,
): { readonly state: PodObjects; readonly problems: readonly SourceProblem[] } => {
  if (event.kind === 'deleted') {
    const key = objectKey(event.object);
    return {
      state: {
        pods: foldReflected(state.pods, { kind: 'deleted', object: event.object as Pod }),
        refused: without(state.refused, key),
        resourceVersion: event.object.metadata.resourceVersion ?? state.resourceVersion,
      },
      problems: [],
    };
  }
  const problems: SourceProblem[] = [];
  const isAll = event.kind === 'replaced';
  const pods = new Map(isAll ? [] : state.pods);
  const refused = new Map(isAll ? [] : state.refused);
  for (const object of isAll ? event.objects : [event.object]) {
    const key = objectKey(object);
    const lack = lackOf(object);
    if (lack === undefined) {
      pods.set(key, object as Pod);
      if (state.refused.has(key))
        problems.push({ severity: 'info', message: `${nameOf(key)} can be read again`, from: nameOf(key) });
      refused.delete(key);
      continue;
    }
    const { resourceVersion = '' } = object.metadata;
    const before = state.pods.get(key);
    if (before) pods.set(key, before);
    refused.set(key, resourceVersion);
    if (state.refused.get(key) !== resourceVersion) problems.push(refusal(key, lack, before && podRef(before)));
  }
  const resourceVersion = isAll
    ? event.resourceVersion
    : (event.object.metadata.resourceVersion ?? state.resourceVersion);
  return { state: { pods, refused, resourceVersion }, problems };
};

const nameOf = (key: string): string => `pod ${key} of the API server`;

const refusal = (key: string, lack: string, kept: PodRef | undefined): SourceProblem => ({
  severity: 'error',
  message: `${nameOf(key)} ${lack}, so it is ${kept ? 'kept as it was' : 'left out'}`,
  from: nameOf(key),
  ...(kept && { keeps: [kept] }),
});

const without = (refused: ReadonlyMap<string, string>, key: string): ReadonlyMap<string, string> => {
  if (!refused.has(key)) return refused;
  const left = new Map(refused);
  left.delete(key);
  return left;
};

/** What keeps an object from being a pod of the agent; undefined for nothing. The server has validated everything else. */
const lackOf = (object: ApiObject): string | undefined => {
  for (const field of ['name', 'namespace', 'uid'] as const) {
    const value: unknown = object.metadata[field];
    if (typeof value !== 'string' || value === '') return `has no metadata.${field}`;
  }
  const { spec } = object as { readonly spec?: { readonly containers?: unknown } | null };
  if (typeof spec !== 'object' || spec === null) return 'has no spec';
  return Array.isArray(spec.containers) ? undefined : 'has no spec.containers';
};

/** What of kept objects can be pods. */
export const readablePods = (objects: readonly unknown[]): readonly Pod[] =>
  objects.filter(
    (object): object is Pod =>
      typeof object === 'object' &&
      object !== null &&
      typeof (object as { metadata?: unknown }).metadata === 'object' &&
      (object as { metadata?: unknown }).metadata !== null &&
      lackOf(object as ApiObject) === undefined,
  );

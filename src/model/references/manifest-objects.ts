import { Map as ImmutableMap, OrderedMap, Set as ImmutableSet } from 'immutable';
import { CONFIG_SOURCE_ANNOTATION, type Pod, type PodSourceName } from '../pod/pod.js';
import { deepEqual } from '../values/deep-equal.js';
import { configMapNames, secretNames } from './referenced-names.js';
import { type SourceObject, sourceObjectKey } from './source-object.js';

/** The objects of the sources of a node without an API server, and the pods that refer to them. */
export interface ManifestObjects {
  /** By source, then by `sourceObjectKey`. */
  readonly sources: ImmutableMap<PodSourceName, OrderedMap<string, SourceObject>>;
  /** The source of each registered pod and the keys of the objects that it refers to, by the UID of the pod. */
  readonly pods: ImmutableMap<string, { readonly source: PodSourceName; readonly keys: ImmutableSet<string> }>;
}

export const NO_MANIFEST_OBJECTS: ManifestObjects = { sources: ImmutableMap(), pods: ImmutableMap() };

/** Replaces the objects of a source. */
export const withSourceObjects = (
  before: ManifestObjects,
  source: PodSourceName,
  objects: readonly SourceObject[],
): ManifestObjects => ({
  ...before,
  sources: before.sources.set(source, byKey(objects)),
});

/** Returns the objects of a source that came, changed or went, and to which a registered pod of this source refers. */
export const changedObjects = (
  before: ManifestObjects,
  after: ManifestObjects,
  source: PodSourceName,
): readonly SourceObject[] => {
  const old = before.sources.get(source, NO_OBJECTS);
  const current = after.sources.get(source, NO_OBJECTS);
  const ofSource = after.pods.filter((pod) => pod.source === source);
  const used = ImmutableSet.union(ofSource.map(({ keys }) => keys).values());
  const changed = old.merge(current).filter((_, key) => used.has(key) && !deepEqual(old.get(key), current.get(key)));
  return [...changed.values()];
};

const NO_OBJECTS = OrderedMap<string, SourceObject>();

const byKey = (objects: readonly SourceObject[]): OrderedMap<string, SourceObject> =>
  OrderedMap(objects.map((object): [string, SourceObject] => [sourceObjectKey(object), object]));

/** Sets the objects that the pod refers to. */
export const withReferrer = (before: ManifestObjects, pod: Pod): ManifestObjects => {
  const { uid, namespace } = pod.metadata;
  const keys = ImmutableSet([
    ...[...configMapNames(pod)].map((name) => `ConfigMap ${namespace}/${name}`),
    ...[...secretNames(pod)].map((name) => `Secret ${namespace}/${name}`),
  ]);
  return { ...before, pods: before.pods.set(uid, { source: sourceOf(pod), keys }) };
};

export const withoutReferrer = (before: ManifestObjects, { metadata: { uid } }: Pod): ManifestObjects => ({
  ...before,
  pods: before.pods.delete(uid),
});

/** Returns the object that a pod reads, which is one of its own source; undefined if there is none. */
export const objectFor = <Kind extends SourceObject['kind']>(
  { sources }: ManifestObjects,
  pod: Pod,
  kind: Kind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Extract<SourceObject, { readonly kind: Kind }> | undefined => {
  const object = sources.get(sourceOf(pod))?.get(`${kind} ${namespace}/${name}`);
  return object?.kind === kind ? (object as Extract<SourceObject, { readonly kind: Kind }>) : undefined;
};

const sourceOf = ({ metadata }: Pod): PodSourceName => metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] ?? '';

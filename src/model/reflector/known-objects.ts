import { OrderedMap } from 'immutable';
import { type ApiObject, objectKey } from '../kube-api/api-object.js';
import type { ReflectorEvent } from './reflector-event.js';

/** The objects of a collection, as far as its reflector has read them. Without fields nothing is known. */
export interface KnownObjects<T extends ApiObject> {
  /** By `objectKey`; absent before the first list. */
  readonly objects?: OrderedMap<string, T> | undefined;
  /** The error of the running watch, until it recovers. */
  readonly problem?: unknown;
}

/** Returns the objects by `objectKey`, in their order. */
export const objectsByKey = <T extends ApiObject>(objects: Iterable<T>): OrderedMap<string, T> =>
  OrderedMap([...objects].map((object): [string, T] => [objectKey(object), object]));

/** Returns the known objects after an event. A change before the first list is of no use: the list has it. */
export const foldKnownObjects = <T extends ApiObject>(
  known: KnownObjects<T>,
  event: ReflectorEvent<T>,
): KnownObjects<T> => {
  switch (event.kind) {
    case 'replaced':
      return { objects: objectsByKey(event.objects) };
    case 'put':
      return { ...known, objects: known.objects?.set(objectKey(event.object), event.object) };
    case 'deleted':
      return { ...known, objects: known.objects?.delete(objectKey(event.object)) };
    case 'problem':
      return { ...known, problem: event.error };
    case 'recovered':
      return { ...known, problem: undefined };
  }
};

/** All objects of a collection as one object, of the version of the newest. */
export interface KeptList<T extends ApiObject> extends ApiObject {
  readonly items: readonly T[];
}

/** Returns the objects after an event as one list; undefined if the event is not about objects. */
export const keptListAfter = <T extends ApiObject>(
  event: ReflectorEvent<T>,
  items: Iterable<T>,
): KeptList<T> | undefined => {
  const resourceVersion = versionAfter(event);
  if (resourceVersion === undefined) return undefined;
  return { metadata: { ...(resourceVersion !== '' && { resourceVersion }) }, items: [...items] };
};

/** The version of the collection after an event; empty if the event does not have it, undefined if it is not about objects. */
const versionAfter = (event: ReflectorEvent): string | undefined => {
  if (event.kind === 'replaced') return event.resourceVersion;
  if (event.kind === 'put' || event.kind === 'deleted') return event.object.metadata.resourceVersion ?? '';
  return undefined;
};

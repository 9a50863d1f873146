import { defer, ignoreElements, type Observable, tap } from 'rxjs';
import { type ApiObject, objectKey } from '../../model/api/api-object.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';
import { isServerAway } from '../../model/api/server-away.js';
import type { KeptObjects } from './kept-objects.js';

/** All objects of a collection, as they were last seen while `run$` is subscribed. */
export interface ReflectedObjects<T extends ApiObject> {
  /** By `objectKey`; undefined until the server has said once what there is, or is found to be away while they are kept. */
  readonly objects: () => ReadonlyMap<string, T> | undefined;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/** All objects of a collection as one, of the version of the newest. */
export interface KeptList<T extends ApiObject> extends ApiObject {
  readonly items: readonly T[];
}

/** What a reflector tells of, kept at hand. A server that goes away later takes nothing back. */
export const reflectedObjects = <T extends ApiObject>(
  event$: Observable<ReflectorEvent<T>>,
  /** For a later agent that finds the server away; nothing is kept unless given. */
  kept?: KeptObjects<KeptList<T>>,
): ReflectedObjects<T> => {
  let objects: Map<string, T> | undefined;
  let isAway = false;
  const keep = (resourceVersion: string | undefined): void => {
    const items = [...(objects ?? new Map<string, T>()).values()];
    kept?.keep('', '', { metadata: { ...(resourceVersion && { resourceVersion }) }, items });
  };

  const hear = (event: ReflectorEvent<T>): void => {
    switch (event.kind) {
      case 'replaced':
        objects = byKey(event.objects);
        return keep(event.resourceVersion);
      case 'put':
        objects?.set(objectKey(event.object), event.object);
        return keep(event.object.metadata.resourceVersion);
      case 'deleted':
        objects?.delete(objectKey(event.object));
        return keep(event.object.metadata.resourceVersion);
      case 'problem':
        isAway = isServerAway(event.error);
        return;
      case 'recovered':
        isAway = false;
    }
  };
  return {
    objects: () => {
      if (objects || !isAway) return objects;
      const before = kept?.get('', '');
      return before && byKey(before.items);
    },
    run$: defer(() => event$).pipe(tap(hear), ignoreElements()),
  };
};

const byKey = <T extends ApiObject>(objects: readonly T[]): Map<string, T> =>
  new Map(objects.map((object) => [objectKey(object), object]));

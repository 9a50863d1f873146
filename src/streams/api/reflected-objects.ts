import { defer, ignoreElements, type Observable, tap } from 'rxjs';
import { type ApiObject, objectKey } from '../../model/api/api-object.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';

/** All objects of a collection, as they were last seen while `run$` is subscribed. */
export interface ReflectedObjects<T extends ApiObject> {
  /** By `objectKey`; undefined until the server has said once what there is. */
  readonly objects: () => ReadonlyMap<string, T> | undefined;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/** What a reflector tells of, kept at hand. A server that goes away later takes nothing back. */
export const reflectedObjects = <T extends ApiObject>(event$: Observable<ReflectorEvent<T>>): ReflectedObjects<T> => {
  let objects: Map<string, T> | undefined;
  const hear = (event: ReflectorEvent<T>): void => {
    switch (event.kind) {
      case 'replaced':
        objects = new Map(event.objects.map((object) => [objectKey(object), object]));
        return;
      case 'put':
        objects?.set(objectKey(event.object), event.object);
        return;
      case 'deleted':
        objects?.delete(objectKey(event.object));
        return;
      case 'problem':
      case 'recovered':
    }
  };
  return { objects: () => objects, run$: defer(() => event$).pipe(tap(hear), ignoreElements()) };
};

import type { Observable } from 'rxjs';
import type { ReferencedObject } from '../../model/api/referenced-object.js';
import type { Pod } from '../../model/pod.js';
import type { ObjectStore } from './object-store.js';

/** Objects of one kind that pods refer to. */
export interface ReferencedObjects<T extends ReferencedObject> {
  /** Once for every pass over the pod: only what is new in its references, or no longer there, makes a difference. */
  readonly register: (pod: Pod) => void;
  /** A pod that is not registered is fine. */
  readonly unregister: (pod: Pod) => void;
  /** See `ObjectStore`. */
  readonly read: (namespace: string, name: string) => Observable<T>;
  readonly run$: Observable<never>;
}

/**
 * Lets a store have what registered pods refer to, and nothing else.
 *
 * Source: pkg/kubelet/util/manager/cache_based_manager.go cacheBasedManager
 */
export const referencedObjects = <T extends ReferencedObject>(
  { refer, release, read, run$ }: ObjectStore<T>,
  namesOf: (pod: Pod) => ReadonlySet<string>,
): ReferencedObjects<T> => {
  /** By UID. */
  const registered = new Map<string, { readonly namespace: string; readonly names: ReadonlySet<string> }>();
  return {
    register: (pod) => {
      const { uid, namespace } = pod.metadata;
      const before = registered.get(uid)?.names ?? new Set();
      const names = namesOf(pod);
      registered.set(uid, { namespace, names });
      for (const name of names) if (!before.has(name)) refer(namespace, name, uid);
      for (const name of before) if (!names.has(name)) release(namespace, name, uid);
    },
    unregister: ({ metadata: { uid } }) => {
      const { namespace = '', names = new Set<string>() } = registered.get(uid) ?? {};
      registered.delete(uid);
      for (const name of names) release(namespace, name, uid);
    },
    read,
    run$,
  };
};

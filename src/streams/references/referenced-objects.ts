import type { Observable } from 'rxjs';
import type { ObjectName, ReferencedObject } from '../../model/references/referenced-object.js';
import type { Pod } from '../../model/pod/pod.js';
import type { ObjectStore } from '../reflector/object-store.js';

/** Objects of one kind that pods refer to. */
export interface ReferencedObjects<T extends ReferencedObject> {
  /** Takes the references of the pod; called in every sync. Only added and removed references have an effect. */
  readonly register: (pod: Pod) => void;
  /** Releases the references of the pod. An unregistered pod is no error. */
  readonly unregister: (pod: Pod) => void;
  /** See `ObjectStore`. */
  readonly read: (namespace: string, name: string) => Observable<T>;
  /** See `ObjectStore`. */
  readonly changed$: Observable<ObjectName>;
  readonly run$: Observable<never>;
}

/**
 * Keeps the references of a store equal to those of the registered pods.
 *
 * Source: pkg/kubelet/util/manager/cache_based_manager.go cacheBasedManager
 */
export const referencedObjects = <T extends ReferencedObject>(
  { refer, release, read, changed$, run$ }: ObjectStore<T>,
  namesOf: (pod: Pod) => ReadonlySet<string>,
): ReferencedObjects<T> => {
  /** The references, by UID of the pod. */
  const registered = new Map<string, References>();
  return {
    register: (pod) => {
      const { uid, namespace } = pod.metadata;
      const { names: before } = registered.get(uid) ?? NO_REFERENCES;
      const names = namesOf(pod);
      registered.set(uid, { namespace, names });
      for (const name of names) if (!before.has(name)) refer(namespace, name, uid);
      for (const name of before) if (!names.has(name)) release(namespace, name, uid);
    },
    unregister: ({ metadata: { uid } }) => {
      const { namespace, names } = registered.get(uid) ?? NO_REFERENCES;
      registered.delete(uid);
      for (const name of names) release(namespace, name, uid);
    },
    read,
    changed$,
    run$,
  };
};

interface References {
  readonly namespace: string;
  readonly names: ReadonlySet<string>;
}

const NO_REFERENCES: References = { namespace: '', names: new Set() };

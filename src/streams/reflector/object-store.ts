import type { Observable } from 'rxjs';
import type { ObjectName, ReferencedObject } from '../../model/references/referenced-object.js';

/**
 * The objects of one kind that pods refer to, kept up to date while `run$` is subscribed.
 *
 * Source: pkg/kubelet/util/manager/manager.go Store
 */
export interface ObjectStore<T extends ReferencedObject> {
  /** Adds a reference of the pod of that UID. */
  readonly refer: (namespace: string, name: string, uid: string) => void;
  /** Removes the reference; an object without references is dropped. */
  readonly release: (namespace: string, name: string, uid: string) => void;
  /** Emits the newest known object once. Errors: `ApiError` NotFound if it does not exist; others if that is not known. */
  readonly read: (namespace: string, name: string) => Observable<T>;
  /**
   * Emits the name of an object whenever it is seen to have changed, to have come or to have gone. A store that asks only when it is
   * read sees no changes. Never errors or ends.
   */
  readonly changed$: Observable<ObjectName>;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/** The error of a read of an object without references. */
export const notRegistered = (namespace: string, name: string): Error =>
  new Error(`object ${JSON.stringify(namespace)}/${JSON.stringify(name)} not registered`);

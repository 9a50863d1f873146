import type { Observable } from 'rxjs';
import type { ReferencedObject } from '../../model/api/referenced-object.js';

/**
 * Objects of one kind, for as long as somebody refers to them. What has to go on for that goes on while `run$` is subscribed.
 *
 * Source: pkg/kubelet/util/manager/manager.go Store
 */
export interface ObjectStore<T extends ReferencedObject> {
  /** The pod of that UID refers to the object from now on. */
  readonly refer: (namespace: string, name: string, uid: string) => void;
  /** It does no longer; what nobody refers to is forgotten. */
  readonly release: (namespace: string, name: string, uid: string) => void;
  /** Emits the object once, as it was last seen. Errors: `ApiError` NotFound when there is none; others when that is not known. */
  readonly read: (namespace: string, name: string) => Observable<T>;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

export const storeKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Somebody asks for what no pod refers to. */
export const notRegistered = (namespace: string, name: string): Error =>
  new Error(`object ${JSON.stringify(namespace)}/${JSON.stringify(name)} not registered`);

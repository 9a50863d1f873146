import type { ApiObject } from '../../model/kube-api/api-object.js';
import type { Pod } from '../../model/pod/pod.js';
import type { Observable } from 'rxjs';

/**
 * The last known pods and objects of the cluster, kept across restarts of the agent so that it can go on while the API server is
 * away. Calls are cold. The port is for one node of one cluster and ignores files of others.
 */
export interface LastKnown {
  /** Emits once; undefined if there are no kept pods that can be read. Errors: Node's own, which name the path. */
  readonly readPods: () => Observable<KnownPods | undefined>;
  /** Replaces all pods at once, or changes nothing and fails; completes when they are on disk. */
  readonly writePods: (pods: KnownPods) => Observable<never>;
  /** Emits once all ConfigMaps, Secrets and lists, by `lastKnownKey`. Errors: none; files that cannot be read are left out. */
  readonly readObjects: () => Observable<ReadonlyMap<string, ApiObject>>;
  /** Keeps an object, if its kind is kept at all. Errors: Node's own, which name the path. */
  readonly writeObject: (key: string, object: ApiObject) => Observable<never>;
  /** Removes an object. A missing one is no error. */
  readonly removeObject: (key: string) => Observable<never>;
}

/** The pods of this node in the last answer of the API server. */
export interface KnownPods {
  readonly pods: readonly Pod[];
  /** The version of this set. */
  readonly resourceVersion: string;
  /** The time of this set, in Unix milliseconds. */
  readonly at: number;
}

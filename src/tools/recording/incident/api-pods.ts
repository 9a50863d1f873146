import { podsPath } from '../../../model/kube-api/api-paths.js';
import type { ApiObject } from '../../../model/kube-api/api-object.js';
import { noPodObjects, notePodObjects, type ObjectsEvent } from '../../../model/kube-api/pod-objects.js';
import { isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { RecordedCall } from './open-calls.js';

/** The pods of the agent's node in the API server's replies. */
export class ApiPods {
  readonly #objects = noPodObjects();
  /** The pages of an unfinished list. */
  #pages: readonly ApiObject[] = [];

  /**
   * Returns the pods after a reply, without fields of the server and the status; undefined if the reply contains no
   * pods.
   */
  replied({ port, args }: RecordedCall, value: unknown): readonly Pod[] | undefined {
    const { path, method = 'GET' } = (args[0] ?? {}) as { readonly path?: string; readonly method?: string };
    if (path !== podsPath() || method !== 'GET') return undefined;
    if (port === 'cluster.api.watch') return this.#watched(value as Watched);
    return port === 'cluster.api.request' ? this.#listed(value as Listed) : undefined;
  }

  #listed({ items, metadata = {} }: Listed): readonly Pod[] | undefined {
    this.#pages = [...this.#pages, ...(items ?? [])];
    if (metadata.continue !== undefined && metadata.continue !== '') return undefined;
    const objects = this.#pages;
    this.#pages = [];
    return this.#fold({ kind: 'replaced', objects, resourceVersion: metadata.resourceVersion ?? '' });
  }

  #watched({ kind, type, object }: Watched): readonly Pod[] | undefined {
    if (kind !== 'event' || object?.metadata.name === undefined) return undefined;
    if (type === 'DELETED') return this.#fold({ kind: 'deleted', object });
    return type === 'ADDED' || type === 'MODIFIED' ? this.#fold({ kind: 'put', object }) : undefined;
  }

  #fold(event: ObjectsEvent): readonly Pod[] {
    notePodObjects(this.#objects, event);
    return [...this.#objects.pods.values()].filter((pod) => !isMirrorPod(pod)).map(asWanted);
  }
}

interface Listed {
  readonly items?: readonly ApiObject[];
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
}

interface Watched {
  readonly kind: string;
  readonly type?: string;
  readonly object?: ApiObject;
}

/** A new status is no change of the desired pod. */
const asWanted = ({ status: _, ...pod }: Pod): Pod => ({
  ...pod,
  metadata: Object.fromEntries(
    Object.entries(pod.metadata).filter(([name]) => name !== 'resourceVersion' && name !== 'managedFields'),
  ) as unknown as Pod['metadata'],
});

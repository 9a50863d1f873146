import type { Pod } from '../../../model/pod/pod.js';
import { conflict, kindOf } from './api-refusals.js';
import { type ApiResource, PODS } from './api-resource.js';
import type { ObjectStore } from './object-store.js';
import { apiTime, type StoredObject } from './stored-object.js';

/** The options in the body of DELETE. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/**
 * Deletes an object, or marks a pod on a node for deletion; returns the object. Errors: throws for a precondition that
 * does not hold.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go BeforeDelete, pkg/registry/core/pod/strategy.go
 */
export const deleteObject = (
  store: ObjectStore,
  resource: ApiResource,
  object: StoredObject,
  { gracePeriodSeconds, preconditions = {} }: DeleteOptions,
  nowMs: number,
): StoredObject => {
  const { name = '', uid, resourceVersion, finalizers = [] } = object.metadata;
  const unlike = (what: string, asked: string, is: string | undefined, why: string) =>
    conflict(
      resource,
      name,
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${is}). ${why}`,
    );
  if (preconditions.uid !== undefined && preconditions.uid !== uid)
    throw unlike('UID', preconditions.uid, uid, 'The object might have been deleted and then recreated');
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion)
    throw unlike(
      'ResourceVersion',
      preconditions.resourceVersion,
      resourceVersion,
      'The object might have been modified',
    );
  const marked = resource === PODS ? markedPod(object, gracePeriodSeconds, nowMs) : undefined;
  if (marked === 'pending') return object;
  if (marked && (marked.metadata.deletionGracePeriodSeconds !== 0 || finalizers.length > 0))
    return store.put(resource, marked);
  if (finalizers.length > 0)
    return object.metadata.deletionTimestamp === undefined
      ? store.put(resource, { ...object, metadata: { ...object.metadata, deletionTimestamp: apiTime(nowMs) } })
      : object;
  return { ...kindOf(resource), ...store.remove(resource, marked ?? object) };
};

/** The pod with its deletion time; `pending` if its time is not shorter than before. */
const markedPod = (object: StoredObject, asked: number | undefined, nowMs: number): StoredObject | 'pending' => {
  const pod = object as unknown as Pod;
  const { metadata } = object;
  const grace = asked !== undefined && asked < 0 ? 1 : asked;
  const { deletionTimestamp, deletionGracePeriodSeconds: left, generation = 0 } = metadata;
  if (deletionTimestamp !== undefined) {
    if (left === undefined || left === 0) return withGrace(object, 0, nowMs);
    if (grace === undefined || grace >= left) return 'pending';
    const earlierMs = Date.parse(deletionTimestamp) - left * 1000 + grace * 1000;
    return earlierMs < nowMs ? withGrace(object, grace === 0 ? 0 : 1, nowMs) : withGrace(object, grace, earlierMs);
  }
  const { phase } = pod.status ?? {};
  const isAtOnce = !pod.spec.nodeName || phase === 'Succeeded' || phase === 'Failed';
  const seconds = isAtOnce ? 0 : (grace ?? pod.spec.terminationGracePeriodSeconds ?? 0);
  const marked = withGrace(object, seconds, nowMs + seconds * 1000);
  return { ...marked, metadata: { ...marked.metadata, ...(generation > 0 && { generation: generation + 1 }) } };
};

const withGrace = (object: StoredObject, seconds: number, untilMs: number): StoredObject => ({
  ...object,
  metadata: { ...object.metadata, deletionGracePeriodSeconds: seconds, deletionTimestamp: apiTime(untilMs) },
});

import type { ApiList, ApiObject } from '../../../model/kube-api/api-object.js';
import {
  applyStrategicMergePatch,
  type MergeKeys,
  NODE_MERGE_KEYS,
  POD_MERGE_KEYS,
} from '../../../model/kube-api/strategic-merge-patch.js';
import type { ApiRequest } from '../../../streams/ports/api-server.js';
import {
  apiVersionOf,
  type ApiResource,
  type ApiTarget,
  NODES,
  PODS,
  resourcesAt,
  SECRETS,
  SERVICE_ACCOUNTS,
  targetOf,
} from './api-resource.js';
import {
  alreadyExists,
  badRequest,
  forbidden,
  noSuchPath,
  notAllowed,
  notFound,
  staleContinue,
} from './api-refusals.js';
import { conflict, invalid, tooLarge, unsupportedPatch } from './api-refusals.js';
import { type DeleteOptions, deleteObject } from './delete-object.js';
import { deniedToNode, refusedToNode, type Verb } from './node-restriction.js';
import type { ObjectStore } from './object-store.js';
import { preparedToCreate, preparedToUpdate } from './prepare-object.js';
import { fieldSelector, labelSelector, type Selects } from './selectors.js';
import { apiTime, asSent, type Fields, type StoredObject } from './stored-object.js';

/** The user of a request: one with all rights, or the agent of a node. */
export type ApiUser = { readonly kind: 'admin' } | { readonly kind: 'node'; readonly node: string };

export interface Answering {
  readonly store: ObjectStore;
  /** False for a kind that a server of an earlier release does not have. */
  readonly isServed: (resource: ApiResource) => boolean;
  /** The time of day. */
  readonly nowMs: () => number;
  readonly nextUid: () => string;
  /** Five characters at the end of a generated name. */
  readonly nextSuffix: () => string;
  /** The version of the server's cache, which may be a little behind. */
  readonly cachedRevision: () => number;
}

/** Carries out a request now and returns the body of the reply. Errors: throws `ApiError`. */
export const answerRequest = (server: Answering, user: ApiUser, request: ApiRequest): unknown => {
  const resources = request.method === 'GET' ? resourcesAt(request.path)?.filter(server.isServed) : undefined;
  if (resources && resources.length > 0) return resourceList(resources);
  const target = targetOf(request.path);
  if (!target) throw noSuchPath();
  const { method, query = {} } = request;
  authorize(server, user, verbOf(method, target), target, query);
  const body = request.body === undefined ? undefined : asSent(request.body);
  switch (method) {
    case 'GET':
      return target.name === undefined ? listed(server, target, query) : found(server, target);
    case 'POST':
      return created(server, user, target, body as StoredObject);
    case 'PUT':
      return written(server, user, target, () => body as StoredObject);
    case 'PATCH':
      return written(server, user, target, (before) => patched(target.resource, before, body, request.contentType));
    case 'DELETE':
      return deleted(server, user, target, body ?? {});
  }
};

const resourceList = (resources: readonly ApiResource[]): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: apiVersionOf(resources[0]!),
  resources: resources.map(({ plural, kind, isNamespaced }) => ({ name: plural, kind, namespaced: isNamespaced })),
});

/** Errors: throws `ApiError` if the user may not make the request, or if the server does not have the kind. */
export const authorize = (
  { store, isServed }: Pick<Answering, 'store' | 'isServed'>,
  user: ApiUser,
  verb: Verb,
  target: ApiTarget,
  query: Readonly<Record<string, string>>,
): void => {
  const denied = user.kind === 'node' ? deniedToNode({ node: user.node, verb, target, query, store }) : undefined;
  if (denied) throw denied;
  if (isServed(target.resource)) return;
  // The roles of nodes do not name a kind that their server does not have, and a refusal comes first.
  throw user.kind === 'node' ? forbidden(target.resource, '', `User cannot ${verb} resource`) : noSuchPath();
};

const verbOf = (method: ApiRequest['method'], { name }: ApiTarget): Verb => {
  switch (method) {
    case 'GET':
      return name === undefined ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
  }
};

/** The objects of a list or watch. Errors: throws for an invalid selector. */
export const selectorOf = ({ resource, namespace }: ApiTarget, query: Readonly<Record<string, string>>): Selects => {
  const byField = fieldSelector(resource, query['fieldSelector'] ?? '');
  const byLabel = labelSelector(query['labelSelector'] ?? '');
  return (object) =>
    (namespace === '' || object.metadata.namespace === namespace) && byField(object) && byLabel(object);
};

const found = ({ store }: Answering, { resource, namespace, name = '', subresource }: ApiTarget): StoredObject => {
  if (subresource !== undefined && subresource !== 'status') throw notAllowed();
  const object = store.get(resource, namespace, name);
  if (!object) throw notFound(resource, name);
  return object;
};

const listed = (server: Answering, target: ApiTarget, query: Readonly<Record<string, string>>): ApiList => {
  const { store } = server;
  const selects = selectorOf(target, query);
  const asked = Number(query['resourceVersion'] ?? NaN);
  if (asked > store.revision) throw tooLarge(asked, store.revision);
  const page = pageOf(query['continue']);
  // Any version is accepted, so the cache answers, with everything at once.
  const isFromCache = asked === 0 && !page;
  const revision = page?.revision ?? (isFromCache ? server.cachedRevision() : store.revision);
  if (page && page.revision < store.compacted) throw staleContinue();
  const all = store.listAt(target.resource, target.namespace, revision).filter(selects);
  const limit = isFromCache ? 0 : Number(query['limit'] ?? 0);
  const rest = page ? all.slice(page.skip) : all;
  const items = limit > 0 ? rest.slice(0, limit) : rest;
  const isWhole = items.length === rest.length;
  const skip = (page?.skip ?? 0) + items.length;
  return {
    kind: `${target.resource.kind}List`,
    apiVersion: apiVersionOf(target.resource),
    metadata: { resourceVersion: String(revision), ...(!isWhole && { continue: `${revision}.${skip}` }) },
    items: items.map(({ apiVersion: _apiVersion, kind: _kind, ...item }): ApiObject => item),
  };
};

const pageOf = (token: string | undefined): { readonly revision: number; readonly skip: number } | undefined => {
  if (token === undefined || token === '') return undefined;
  const [, revision, skip] = /^(\d+)\.(\d+)$/.exec(token) ?? [];
  if (revision === undefined) throw badRequest('continue key is not valid');
  return { revision: Number(revision), skip: Number(skip) };
};

const created = (server: Answering, user: ApiUser, target: ApiTarget, sent: StoredObject): unknown => {
  const { resource, namespace, name, subresource } = target;
  if (resource === SERVICE_ACCOUNTS && subresource === 'token') return token(server, user, target, sent);
  if (name !== undefined || subresource !== undefined) throw notAllowed();
  const { store } = server;
  const object = preparedToCreate(resource, namespace, sent, {
    nowMs: server.nowMs(),
    uid: server.nextUid(),
    suffix: server.nextSuffix(),
  });
  refuse(user, { target, store, after: object });
  if (store.get(resource, namespace, object.metadata.name!)) throw alreadyExists(resource, object.metadata.name!);
  return store.put(resource, object);
};

const written = (
  { store }: Answering,
  user: ApiUser,
  target: ApiTarget,
  make: (before: StoredObject) => StoredObject,
): StoredObject => {
  const { resource, namespace, name, subresource } = target;
  const isKnown =
    subresource === undefined ||
    (subresource === 'status' && resource.hasStatus) ||
    (subresource === 'resize' && resource === PODS);
  if (name === undefined || !isKnown) throw notAllowed();
  const before = store.get(resource, namespace, name);
  if (!before) throw notFound(resource, name);
  const after = preparedToUpdate(resource, before, make(before), subresource);
  refuse(user, { target, store, before, after });
  const { metadata, ...rest } = after;
  const { metadata: metadataBefore, ...restBefore } = before;
  // A write without changes creates no new version, and no watch event.
  const isSame =
    JSON.stringify(sortedFields({ ...rest, metadata: { ...metadata, resourceVersion: '' } })) ===
    JSON.stringify(sortedFields({ ...restBefore, metadata: { ...metadataBefore, resourceVersion: '' } }));
  if (isSame) return before;
  const { finalizers = [], deletionTimestamp } = metadata;
  // The last finalizer of an object to delete has been removed.
  if (deletionTimestamp !== undefined && finalizers.length === 0 && (metadataBefore.finalizers ?? []).length > 0)
    if (resource !== PODS || metadata.deletionGracePeriodSeconds === 0) return store.remove(resource, after);
  return store.put(resource, after);
};

const sortedFields = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortedFields);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([field, item]) => [field, sortedFields(item)]),
  );
};

const patched = (
  resource: ApiResource,
  before: StoredObject,
  patch: unknown,
  type = 'application/json',
): StoredObject => {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) throw badRequest('the patch is no object');
  const fields = patch as Fields;
  switch (type) {
    case 'application/strategic-merge-patch+json':
      return applyStrategicMergePatch(
        before as unknown as Fields,
        fields,
        mergeKeysOf(resource),
      ) as unknown as StoredObject;
    case 'application/merge-patch+json':
      return mergePatched(before, fields) as StoredObject;
    default:
      throw unsupportedPatch(type);
  }
};

const mergeKeysOf = (resource: ApiResource): MergeKeys =>
  resource === PODS ? ALL_POD_MERGE_KEYS : resource === NODES ? NODE_MERGE_KEYS : {};

/** Also for fields that only users patch. */
const ALL_POD_MERGE_KEYS: MergeKeys = {
  ...POD_MERGE_KEYS,
  'spec.containers': 'name',
  'spec.initContainers': 'name',
  'metadata.ownerReferences': 'uid',
};

/** RFC 7386. */
const mergePatched = (before: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(before) ? { ...before } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatched(merged[field], value);
  }
  return merged;
};

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const deleted = (server: Answering, user: ApiUser, target: ApiTarget, options: DeleteOptions): unknown => {
  const { resource, namespace, name, subresource } = target;
  if (name === undefined || subresource !== undefined) throw notAllowed();
  const { store } = server;
  const object = store.get(resource, namespace, name);
  if (!object) throw notFound(resource, name);
  refuse(user, { target, store, before: object });
  return deleteObject(store, resource, object, options, server.nowMs());
};

const refuse = (user: ApiUser, write: Omit<Parameters<typeof refusedToNode>[0], 'node'>): void => {
  const refused = user.kind === 'node' ? refusedToNode({ node: user.node, ...write }) : undefined;
  if (refused) throw refused;
};

interface TokenRequest extends StoredObject {
  readonly spec: {
    readonly audiences?: readonly string[];
    readonly expirationSeconds?: number;
    readonly boundObjectRef?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
  };
}

/** Source: pkg/registry/core/serviceaccount/storage/token.go and the NodeRestriction plugin */
const token = (server: Answering, user: ApiUser, { namespace, name = '' }: ApiTarget, sent: StoredObject): unknown => {
  const { store } = server;
  const { spec } = sent as TokenRequest;
  if (!store.get(SERVICE_ACCOUNTS, namespace, name)) throw notFound(SERVICE_ACCOUNTS, name);
  const { boundObjectRef: bound, expirationSeconds = 3600 } = spec;
  if (user.kind === 'node') {
    if (bound?.kind !== 'Pod' || !bound.name)
      throw forbidden(SERVICE_ACCOUNTS, name, 'node requested token not bound to a pod');
    if (!bound.uid) throw forbidden(SERVICE_ACCOUNTS, name, 'node requested token with a pod binding without a uid');
  }
  if (expirationSeconds < 600)
    throw invalid(SERVICE_ACCOUNTS, name, 'spec.expirationSeconds: may not specify a duration less than 10 minutes');
  if (bound) {
    const resource = bound.kind === 'Secret' ? SECRETS : PODS;
    const object = store.get(resource, namespace, bound.name ?? '');
    if (!object) throw notFound(resource, bound.name ?? '');
    if (bound.uid !== undefined && bound.uid !== object.metadata.uid)
      throw conflict(
        resource,
        bound.name ?? '',
        `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    if (user.kind === 'node' && object.spec?.['nodeName'] !== user.node)
      throw forbidden(SERVICE_ACCOUNTS, name, 'node requested token bound to a pod scheduled on a different node');
  }
  const expirationTimestamp = apiTime(server.nowMs() + expirationSeconds * 1000);
  return { ...sent, status: { token: `token-of-${namespace}-${name}-${server.nextSuffix()}`, expirationTimestamp } };
};

import { isSameJson } from '../../../model/kube-api/strategic-merge-patch.js';
import { forbidden } from './api-refusals.js';
import { type ApiResource, type ApiTarget, CONFIG_MAPS, LEASES, NODES, PODS, SECRETS } from './api-resource.js';
import {
  EVENTS,
  POD_CERTIFICATE_REQUESTS,
  RUNTIME_CLASSES,
  SERVICE_ACCOUNTS,
  SERVICES,
  SIGNING_REQUESTS,
  TRUST_BUNDLES,
} from './api-resource.js';
import type { ObjectStore } from './object-store.js';
import type { Fields, StoredObject } from './stored-object.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

interface Asked {
  readonly node: string;
  readonly verb: Verb;
  readonly target: ApiTarget;
  readonly query: Readonly<Record<string, string>>;
  readonly store: ObjectStore;
}

/**
 * Returns the reason why the node authorizer refuses a request of a node; undefined if it allows it.
 *
 * Source: plugin/pkg/auth/authorizer/node/node_authorizer.go, with AuthorizeNodeWithSelectors
 */
export const deniedToNode = ({ node, verb, target, query, store }: Asked): Error | undefined => {
  const { resource, namespace, name, subresource } = target;
  const deny = (why: string) => forbidden(resource, name ?? '', `User "system:node:${node}" cannot ${verb}: ${why}`);
  const selected = selectedFields(query);
  const isRead = verb === 'get' || verb === 'list' || verb === 'watch';
  /** A list or watch of one name counts as one of that object. */
  const one = name ?? selected['metadata.name'];
  switch (resource) {
    case PODS:
      if (subresource === 'status') return verb === 'patch' || verb === 'update' ? undefined : deny('not a status');
      if (subresource === undefined && (verb === 'create' || verb === 'delete')) return undefined;
      if (verb === 'get')
        return store.get(PODS, namespace, name ?? '')?.spec?.['nodeName'] === node
          ? undefined
          : deny(`no relationship found between node '${node}' and this object`);
      if (isRead && selected['spec.nodeName'] === node) return undefined;
      return deny('can only list/watch pods with spec.nodeName field selector');
    case NODES:
      if (isRead)
        return one === node ? undefined : deny(`node '${node}' cannot read all nodes, only its own Node object`);
      return verb === 'delete' ? deny('no nodes are deleted') : undefined;
    case SECRETS:
    case CONFIG_MAPS:
      if (!isRead || namespace === '') return deny('can only read namespaced object of this type');
      return one !== undefined && isReferenced(store, node, { resource, namespace, name: one })
        ? undefined
        : deny(`no relationship found between node '${node}' and this object`);
    case LEASES:
      if (namespace !== 'kube-node-lease')
        return deny('can only access leases in the "kube-node-lease" system namespace');
      if (verb === 'list' || verb === 'watch')
        return deny('can only get, create, update, patch, or delete a node lease');
      return verb === 'create' || name === node ? undefined : deny('can only access the lease of its own name');
    case SERVICES:
    case RUNTIME_CLASSES:
    case TRUST_BUNDLES:
      return isRead ? undefined : deny('is read only');
    case EVENTS:
      return verb === 'create' || verb === 'patch' || verb === 'update' ? undefined : deny('can only write events');
    case SERVICE_ACCOUNTS:
      if (verb === 'get' && subresource === undefined)
        return store
          .list(PODS, namespace)
          .some(({ spec }) => spec?.['nodeName'] === node && spec['serviceAccountName'] === name)
          ? undefined
          : deny(`no relationship found between node '${node}' and this object`);
      return verb === 'create' && subresource === 'token' ? undefined : deny('can only create tokens');
    case POD_CERTIFICATE_REQUESTS:
      if (verb === 'create') return undefined;
      if (isRead && (name !== undefined || selected['spec.nodeName'] === node)) return undefined;
      return deny('can only list/watch podcertificaterequests with spec.nodeName field selector');
    case SIGNING_REQUESTS:
      return verb === 'create' || isRead ? undefined : deny('can only create and read requests');
    default:
      return deny('nothing of this kind');
  }
};

interface Write {
  readonly node: string;
  readonly target: ApiTarget;
  readonly store: ObjectStore;
  readonly before?: StoredObject;
  readonly after?: StoredObject;
}

/**
 * Returns the reason why a node must not write the object; undefined if it may.
 *
 * Source: plugin/pkg/admission/noderestriction/admission.go
 */
export const refusedToNode = ({ node, target, store, before, after }: Write): Error | undefined => {
  const { resource, name, subresource } = target;
  const refuse = (why: string) => forbidden(resource, name ?? after?.metadata.name ?? '', why);
  if (resource === LEASES)
    return (after ?? before)?.metadata.name === node
      ? undefined
      : refuse('can only access node lease with the same name');
  if (resource === POD_CERTIFICATE_REQUESTS) return refusedCertificate(node, store, target.namespace, after, refuse);
  if (resource === PODS) {
    if (subresource === 'status') {
      if (before?.spec?.['nodeName'] !== node)
        return refuse(`node "${node}" can only update pod status for pods with spec.nodeName set to itself`);
      return isSameJson(before.metadata.labels ?? {}, after?.metadata.labels ?? {})
        ? undefined
        : refuse(`node "${node}" cannot update labels through pod status`);
    }
    if (!after)
      return before?.spec?.['nodeName'] === node
        ? undefined
        : refuse(`node "${node}" can only delete pods with spec.nodeName set to itself`);
    return before ? refuse(`unexpected operation "UPDATE"`) : refusedMirror(node, store, after, refuse);
  }
  if (resource === NODES) {
    const changed = after ?? before;
    if (changed?.metadata.name !== node) return refuse(`node "${node}" is not allowed to modify node "${name}"`);
    if (after && before && !isSameJson(before.spec?.['taints'] ?? [], after.spec?.['taints'] ?? []))
      return refuse(`node "${node}" is not allowed to modify taints`);
    const labels = after ? changedLabels(before?.metadata.labels ?? {}, after.metadata.labels ?? {}) : [];
    const wrong = labels.filter(isForbiddenLabel);
    return wrong.length > 0 ? refuse(`is not allowed to modify labels: ${wrong.join(', ')}`) : undefined;
  }
  return undefined;
};

const refusedCertificate = (
  node: string,
  store: ObjectStore,
  namespace: string,
  after: StoredObject | undefined,
  refuse: (why: string) => Error,
): Error | undefined => {
  const spec = after?.spec ?? {};
  const pod = store.get(PODS, namespace, String(spec['podName']));
  if (!pod || pod.metadata.uid !== spec['podUID']) return refuse(`pod ${String(spec['podName'])} UID mismatch`);
  if (pod.spec?.['nodeName'] !== node || spec['nodeName'] !== node)
    return refuse(`node "${node}" can only request certificates of pods with spec.nodeName set to itself`);
  if (store.get(NODES, '', node)?.metadata.uid !== spec['nodeUID']) return refuse(`node ${node} UID mismatch`);
  const account = store.get(SERVICE_ACCOUNTS, namespace, String(pod.spec['serviceAccountName']));
  return account?.metadata.name === spec['serviceAccountName'] && account?.metadata.uid === spec['serviceAccountUID']
    ? undefined
    : refuse('the service account is another one than that of the pod');
};

const refusedMirror = (
  node: string,
  store: ObjectStore,
  { metadata, spec = {} }: StoredObject,
  refuse: (why: string) => Error,
): Error | undefined => {
  if (metadata.annotations?.['kubernetes.io/config.mirror'] === undefined)
    return refuse(
      `pod does not have "kubernetes.io/config.mirror" annotation, node "${node}" can only create mirror pods`,
    );
  if (spec['nodeName'] !== node) return refuse(`node "${node}" can only create pods with spec.nodeName set to itself`);
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (!owner || others.length > 0 || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    return refuse(`node "${node}" can only create pods with an owner reference set to itself`);
  if (owner.controller !== true)
    return refuse(`node "${node}" can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true)
    return refuse(`node "${node}" must not set blockOwnerDeletion on an owner reference`);
  const uid = store.get(NODES, '', node)?.metadata.uid;
  if (owner.uid !== uid) return refuse(`node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  return spec['serviceAccountName'] !== undefined || namesIn(spec).length > 0
    ? refuse(`node "${node}" can not create pods that reference secrets`)
    : undefined;
};

const selectedFields = ({ fieldSelector = '' }: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fieldSelector
      .split(',')
      .map((term) => /^([^!=]+)==?(.*)$/.exec(term))
      .flatMap((found) => (found ? [[found[1]!, found[2]!] as const] : [])),
  );

interface Named {
  readonly resource: ApiResource;
  readonly namespace: string;
  readonly name: string;
}

/** Whether a pod of the node refers to the object. */
const isReferenced = (store: ObjectStore, node: string, { resource, namespace, name }: Named): boolean =>
  store
    .list(PODS, namespace)
    .some(
      ({ spec = {} }) =>
        spec['nodeName'] === node && namesIn(spec).some((named) => named.resource === resource && named.name === name),
    );

/** The secrets and config maps that a spec refers to. */
const namesIn = (value: unknown): readonly Omit<Named, 'namespace'>[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return Object.entries(value as Fields).flatMap(([field, item]) => {
    const { name, secretName } = (item ?? {}) as { readonly name?: string; readonly secretName?: string };
    if (field === 'secretKeyRef' || field === 'secretRef' || field === 'secret')
      return [{ resource: SECRETS, name: secretName ?? name ?? '' }];
    if (field === 'configMapKeyRef' || field === 'configMapRef' || field === 'configMap')
      return [{ resource: CONFIG_MAPS, name: name ?? '' }];
    if (field === 'imagePullSecrets')
      return (item as readonly { readonly name: string }[]).map((one) => ({ resource: SECRETS, name: one.name }));
    return namesIn(item);
  });
};

const changedLabels = (
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((label) => before[label] !== after[label]);

/**
 * Labels of kubernetes.io that a node may have nevertheless. Source:
 * staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go
 */
const NODE_LABELS: ReadonlySet<string> = new Set([
  ...['kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch'],
  ...['beta.kubernetes.io/os', 'beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type'],
  ...['topology.kubernetes.io/zone', 'topology.kubernetes.io/region', 'node.kubernetes.io/instance-type'],
  ...['failure-domain.beta.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region'],
]);

const isForbiddenLabel = (label: string): boolean => {
  const [domain = '', name] = label.split('/');
  if (name === undefined) return false;
  const isBelow = (suffix: string): boolean => domain === suffix || domain.endsWith(`.${suffix}`);
  if (isBelow('node-restriction.kubernetes.io')) return true;
  if (!isBelow('kubernetes.io') && !isBelow('k8s.io')) return false;
  return !NODE_LABELS.has(label) && !isBelow('kubelet.kubernetes.io') && !isBelow('node.kubernetes.io');
};

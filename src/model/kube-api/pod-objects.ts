import { DNS_LABEL, DNS_SUBDOMAIN, POD_UID } from '../manifest/names.js';
import { ANNOTATION_BYTES } from '../manifest/validate-metadata.js';
import { type Pod, type PodRef, podRef } from '../pod/pod.js';
import { type SourceProblem } from '../pod/pod-set.js';
import { type ApiObject, objectKey } from './api-object.js';
import { problemOfName, readApiObject } from './read-api-object.js';
import { TYPE_OF_PODS } from './type-of-path.js';
import type { ReflectorEvent } from '../reflector/reflector-event.js';

/** The pods of the API, and the invalid objects among them, in their present state: a copy for each event is expensive with many pods. */
export interface PodObjects {
  /** By namespace and name. */
  pods: Map<string, Pod>;
  /** The versions of the invalid objects, by namespace and name. */
  refused: Map<string, string>;
  /** Every change up to it is known; empty before the first list. */
  resourceVersion: string;
}

export const noPodObjects = (): PodObjects => ({ pods: new Map(), refused: new Map(), resourceVersion: '' });

export type ObjectsEvent = Extract<ReflectorEvent, { kind: 'replaced' | 'put' | 'deleted' }>;

/**
 * Changes the pods by one more event, and returns its problems. Unknown fields stay. An object without the fields that the agent
 * needs is not used, so that a pod that was valid before stays as it was; each version of such an object is a problem
 * once.
 *
 * Source: pkg/kubelet/config/apiserver.go
 */
export const notePodObjects = (
  state: PodObjects,
  event: ObjectsEvent,
  /** The objects of the event that were read before. */
  read: (object: ApiObject) => ReadPod = readPod,
): readonly SourceProblem[] => {
  if (event.kind === 'deleted') {
    const { object } = event;
    state.pods.delete(objectKey(object));
    state.refused.delete(objectKey(object));
    state.resourceVersion = object.metadata.resourceVersion ?? state.resourceVersion;
    return [];
  }
  const problems: SourceProblem[] = [];
  const isAll = event.kind === 'replaced';
  const pods = isAll ? new Map<string, Pod>() : state.pods;
  const refused = isAll ? new Map<string, string>() : state.refused;
  for (const object of isAll ? event.objects : [event.object]) {
    const key = objectKey(object);
    const found = read(object);
    if ('pod' in found) {
      pods.set(key, found.pod);
      if (state.refused.has(key))
        problems.push({ severity: 'info', message: `${nameOf(key)} can be read again`, from: nameOf(key) });
      refused.delete(key);
      continue;
    }
    const { resourceVersion = '', uid } = object.metadata;
    const known = state.pods.get(key);
    // Another UID means that the earlier pod is gone.
    const before = known?.metadata.uid === uid || !isUid(uid) ? known : undefined;
    if (before) pods.set(key, before);
    else pods.delete(key);
    if (state.refused.get(key) !== resourceVersion)
      problems.push(refusal(nameOf(key), object, found.lack, before && podRef(before)));
    refused.set(key, resourceVersion);
  }
  state.pods = pods;
  state.refused = refused;
  state.resourceVersion = isAll
    ? event.resourceVersion
    : (event.object.metadata.resourceVersion ?? state.resourceVersion);
  return problems;
};

const nameOf = (key: string): string => `pod ${shown(key)} of the API server`;

/** An invalid name may be long, or contain control characters of a terminal. */
const shown = (key: string): string =>
  key.length <= LONGEST_KEY && /^[\w./-]*$/.test(key) ? key : JSON.stringify(key.slice(0, LONGEST_KEY));

const LONGEST_KEY = DNS_LABEL.maxLength + 1 + DNS_SUBDOMAIN.maxLength;

const isUid = (uid: unknown): boolean => problemOfName(uid, POD_UID, 'uid') === undefined;

/** With an event if the event can name the object. */
const refusal = (what: string, { metadata }: ApiObject, lack: string, kept: PodRef | undefined): SourceProblem => {
  const { name = '', namespace = '', uid = '' } = metadata;
  const message = `${what} ${lack}, so ${kept ? 'its earlier version stays' : 'it is left out'}`;
  const isNamed =
    isUid(uid) &&
    problemOfName(name, DNS_SUBDOMAIN, 'name') === undefined &&
    problemOfName(namespace, DNS_LABEL, 'namespace') === undefined;
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid }, spec: { containers: [] } };
  return {
    severity: 'error',
    message,
    from: what,
    ...(kept && { keeps: [kept] }),
    ...(isNamed && { event: { pod, reason: 'FailedValidation', message } }),
  };
};

/** Whether an object is a usable pod: with valid names and types. The server has validated all other fields. */
export const readPod = (value: unknown): ReadPod => {
  const { metadata, spec } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly metadata?: Readonly<Record<string, unknown>> | null;
    readonly spec?: { readonly containers?: unknown } | null;
  };
  if (typeof metadata !== 'object' || metadata === null) return { lack: 'has no metadata' };
  const misnamed =
    problemOfName(metadata.name, DNS_SUBDOMAIN, 'metadata.name') ??
    problemOfName(metadata.namespace, DNS_LABEL, 'metadata.namespace') ??
    problemOfName(metadata.uid, POD_UID, 'metadata.uid');
  if (misnamed !== undefined) return { lack: misnamed };
  const excess = problemOfAnnotations(metadata.annotations);
  if (excess !== undefined) return { lack: excess };
  if (typeof spec !== 'object' || spec === null) return { lack: 'has no spec' };
  if (spec.containers === undefined || spec.containers === null) return { lack: 'has no spec.containers' };
  const read = readApiObject<Pod & ApiObject>(value, TYPE_OF_PODS);
  if ('problem' in read) return { lack: read.problem };
  const lack = problemOfNamesWithin(read.object);
  return lack === undefined ? { pod: read.object } : { lack };
};

/**
 * The server stores no larger annotations. They would be copied into the sandbox, and from there into every listing of the runtime. A text has at least
 * as many bytes as characters, which are cheap to count.
 */
const problemOfAnnotations = (annotations: unknown): string | undefined => {
  if (typeof annotations !== 'object' || annotations === null) return undefined;
  let length = 0;
  for (const [key, value] of Object.entries(annotations)) {
    length += key.length + (typeof value === 'string' ? value.length : 0);
    if (length > ANNOTATION_BYTES) return `has annotations of more than ${ANNOTATION_BYTES} bytes`;
  }
  return undefined;
};

export type ReadPod = { readonly pod: Pod } | { readonly lack: string };

/**
 * The names in the pod that become parts of paths on this node. References to API objects may have any name: the server
 * has not validated them, and no object has an invalid name.
 */
const problemOfNamesWithin = ({ spec }: Pod): string | undefined => {
  const containers = [
    ...(spec.initContainers ?? []).map((container, index) => ({ container, at: `spec.initContainers[${index}]` })),
    ...spec.containers.map((container, index) => ({ container, at: `spec.containers[${index}]` })),
    ...(spec.ephemeralContainers ?? []).map((container, index) => ({
      container,
      at: `spec.ephemeralContainers[${index}]`,
    })),
  ];
  const names = new Set<string>();
  for (const { container, at } of containers) {
    const problem = problemOfName(container.name, DNS_LABEL, `${at}.name`);
    if (problem !== undefined) return problem;
    if (names.has(container.name)) return `has two containers of the name ${JSON.stringify(container.name)}`;
    names.add(container.name);
  }
  for (const [index, { name }] of (spec.volumes ?? []).entries()) {
    const problem = problemOfName(name, DNS_LABEL, `spec.volumes[${index}].name`);
    if (problem !== undefined) return problem;
  }
  const profiles = [spec.securityContext, ...containers.map(({ container }) => container.securityContext)];
  const leaving = profiles.map((one) => one?.seccompProfile?.localhostProfile).find((path) => path && leaves(path));
  return leaving === undefined
    ? undefined
    : `has the seccomp profile ${JSON.stringify(leaving)}, which leaves its directory`;
};

const leaves = (path: string): boolean => path.startsWith('/') || path.split('/').includes('..');

/** Returns the usable pods among kept objects, and the problems of the others. */
export const readKeptPods = (
  objects: readonly unknown[],
): { readonly pods: readonly Pod[]; readonly problems: readonly SourceProblem[] } => {
  const pods: Pod[] = [];
  const problems: SourceProblem[] = [];
  for (const object of objects) {
    const read = readPod(object);
    if ('pod' in read) pods.push(read.pod);
    else {
      const named = asObject(object);
      const what = shown(objectKey(named)) || 'without a name';
      problems.push(refusal(`last known pod ${what}`, named, read.lack, undefined));
    }
  }
  return { pods, problems };
};

const asObject = (value: unknown): ApiObject => {
  const { metadata } = (typeof value === 'object' && value !== null ? value : {}) as { readonly metadata?: unknown };
  return { metadata: typeof metadata === 'object' && metadata !== null ? metadata : {} };
};

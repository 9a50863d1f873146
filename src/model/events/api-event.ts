import type { ApiObject } from '../kube-api/api-object.js';
import { fnv1a64 } from '../values/fnv.js';
import type { Pod } from '../pod/pod.js';
import { toTimestamp } from '../values/timestamp.js';

/** The object of an event. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** The part of the object, such as `spec.containers{web}`. */
  readonly fieldPath?: string;
}

/** An Event of the core group, v1. Times are RFC 3339 in whole seconds. */
export interface ApiEvent extends ApiObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Event';
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly involvedObject: ObjectReference;
  readonly reason: string;
  readonly message: string;
  readonly type: 'Normal' | 'Warning';
  readonly source: { readonly component: string; readonly host: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

/** An event from the agent. */
export interface EventFact {
  /** Absent for an event about the node. */
  readonly pod?: Pod;
  readonly container?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Where and when an event happens. */
export interface EventOrigin {
  readonly nodeName: string;
  /** The UID of the Node in the API, once it is registered. */
  readonly nodeUid?: string | undefined;
  /** The Unix time. */
  readonly nanoseconds: bigint;
}

/**
 * Returns the origin of an event that happens after those of `before`, at the Unix time `wallMs`, in milliseconds. No two events have the
 * same nanoseconds. The first UID of the Node stays: events about a Node that was deleted and made again go on under it.
 *
 * Source: pkg/kubelet/kubelet.go, since 1.37
 */
export const originAfter = (
  before: EventOrigin,
  { nodeUid, wallMs }: { readonly nodeUid: string | undefined; readonly wallMs: number },
): EventOrigin => {
  const now = BigInt(Math.trunc(wallMs)) * 1_000_000n;
  return {
    nodeName: before.nodeName,
    nodeUid: before.nodeUid ?? nodeUid,
    nanoseconds: now > before.nanoseconds ? now : before.nanoseconds + 1n,
  };
};

const COMPONENT = 'kubelet';

/**
 * Returns the event for the API, at its first occurrence. Events of one object with the
 * same time would have the same name. A static pod is identified by its own UID, which `kubectl describe` finds through
 * the annotation of its mirror pod; a node by `nodeUid`, or by its name while that is unknown: `kubectl describe node`
 * looks for both.
 *
 * Source: staging/src/k8s.io/client-go/tools/record/event.go makeEvent, util/util.go GenerateEventName
 */
export const apiEvent = (
  { pod, container, type, reason, message, annotations }: EventFact,
  { nodeName, nodeUid, nanoseconds }: EventOrigin,
): ApiEvent => {
  const involvedObject = pod ? podReference(pod, container) : nodeReference(nodeName, nodeUid);
  const at = toTimestamp(Number(nanoseconds / 1_000_000n));
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      namespace: involvedObject.namespace ?? 'default',
      name: eventName(involvedObject.name, nanoseconds),
      ...(annotations && { annotations }),
    },
    involvedObject,
    reason,
    message,
    type,
    source: { component: COMPONENT, host: nodeName },
    reportingComponent: COMPONENT,
    reportingInstance: nodeName,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
};

const nodeReference = (name: string, uid = name): ObjectReference => ({ apiVersion: 'v1', kind: 'Node', name, uid });

const podReference = (pod: Pod, container: string | undefined): ObjectReference => {
  const { namespace, name, uid, resourceVersion } = pod.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace,
    name,
    uid,
    ...(resourceVersion !== undefined && resourceVersion !== '' && { resourceVersion }),
    ...(container !== undefined && { fieldPath: containerPath(pod, container) }),
  };
};

/**
 * Returns the path of a container; a container that is in no list was started for the pod without being in its spec.
 * Source: pkg/kubelet/container/ref.go fieldPath
 */
const containerPath = ({ spec }: Pod, container: string): string => {
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    const index = (spec[list] ?? []).findIndex(({ name }) => (name ?? '') === container);
    if (index >= 0) return container === '' ? `spec.${list}[${index}]` : `spec.${list}{${container}}`;
  }
  return `implicitly required container ${container}`;
};

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 253;

/**
 * Returns `<object>.<hex nanoseconds>`, or a UUID from the object's name and the time if that would be an invalid name.
 */
const eventName = (object: string, nanoseconds: bigint): string => {
  const name = `${object}.${nanoseconds.toString(16)}`;
  if (name.length <= LONGEST_NAME && SUBDOMAIN.test(name)) return name;
  const digits = [fnv1a64(object), nanoseconds].map((half) => half.toString(16).padStart(16, '0')).join('');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
};

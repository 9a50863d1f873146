import { isSameJson } from '../kube-api/strategic-merge-patch.js';
import { isMirrorOf } from '../pod/mirror-pod.js';
import { isOfFormerLife } from './illegal-transition.js';
import { isStaticPod, type Pod, type PodStatus } from '../pod/pod.js';
import type { WantedPodsView } from '../pod/wanted-pods.js';
import type { PodStatusesView } from './pod-statuses.js';
import { canBeDeleted } from './pod-deletion.js';
import { isSamePodStatus, normalizedPodStatus, withoutEmpty } from './same-pod-status.js';

/**
 * A pod whose status is written to the API, and the object that receives it: the pod itself, or the mirror pod of a
 * static one.
 */
export interface StatusTarget {
  readonly uid: string;
  readonly statusUid: string;
  readonly namespace: string;
  readonly name: string;
}

/** The fields of an API object that a write of its status needs. */
export type ApiPod = Pick<Pod, 'metadata' | 'status'>;

/** The object that a patch is made from. */
export interface StatusBase {
  readonly pod: ApiPod;
  /** The object was read just now; otherwise another client may have written it since. */
  readonly isRead: boolean;
}

/** The API's reply to a write. */
interface Accepted {
  /** The status that the write requested. */
  readonly asked: PodStatus;
  readonly answer: ApiPod;
  /** The copy of the object at the time of the request. */
  readonly copy: Pod | undefined;
}

interface LedgerPorts {
  readonly statuses: Pick<PodStatusesView, 'stored' | 'uids'>;
  readonly pods: Pick<WantedPodsView, 'get' | 'resolve'>;
}

/**
 * The state of writing statuses to the API: the written version of each, the API's reply, and the changes that are not
 * written yet. Times are the caller's milliseconds.
 *
 * Source: apiStatusVersions, needsUpdate and needsReconcile in pkg/kubelet/status/status_manager.go
 */
export class StatusLedger {
  readonly #ports: LedgerPorts;
  /** By the UID of the object in the API. */
  readonly #sent = new Map<string, number>();
  readonly #accepted = new Map<string, Accepted>();
  /** By the UID of the pod: since when a change waits to be written. */
  readonly #changedAt = new Map<string, number>();
  readonly #failing = new Set<string>();
  /** Statuses that were found to be equal: most syncs change nothing, and comparing is slow. */
  readonly #compared = new Map<string, { readonly copy: Pod; readonly status: PodStatus }>();

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
  }

  noteChange(uid: string, now: number): void {
    if (!this.#changedAt.has(uid) && this.due(uid, true)) this.#changedAt.set(uid, now);
  }

  /** Returns the object that receives the pod's status, if there is a status to write or the pod has to be removed. */
  due(uid: string, evenWithoutObject = false): StatusTarget | undefined {
    const { statuses, pods } = this.#ports;
    const [stored, pod] = [statuses.stored(uid), pods.get(uid)];
    if (!stored || !pod) return undefined;
    const target = this.#targetOf(pod);
    if (!target) return evenWithoutObject ? { uid, statusUid: '', ...nameOf(pod) } : undefined;
    const isWritten = (this.#sent.get(target.statusUid) ?? 0) >= stored.version;
    const needsUpdate = !isWritten || canBeDeleted(pod, stored.isFinished);
    return needsUpdate ? target : undefined;
  }

  /**
   * Returns the pods of all statuses, for one call of `isAmiss` each: with many pods these calls take long. Forgets pods that are
   * gone.
   */
  targets(): readonly StatusTarget[] {
    const { statuses, pods } = this.#ports;
    const uids = statuses.uids();
    const targets = new Map(
      uids.flatMap((uid) => {
        const pod = pods.get(uid);
        const target = pod && this.#targetOf(pod);
        return target ? [[target.statusUid, target] as const] : [];
      }),
    );
    for (const map of [this.#sent, this.#accepted]) {
      for (const uid of map.keys()) if (!targets.has(uid)) map.delete(uid);
    }
    const known = new Set(uids);
    for (const uid of this.#changedAt.keys()) if (!known.has(uid)) this.#changedAt.delete(uid);
    for (const uid of this.#failing) if (!known.has(uid)) this.#failing.delete(uid);
    for (const uid of this.#compared.keys()) if (!known.has(uid)) this.#compared.delete(uid);
    return [...targets.values()];
  }

  /** Whether the status is due. It becomes due if the status in the API has changed. */
  isAmiss(target: StatusTarget): boolean {
    if (this.due(target.uid)) return true;
    if (!this.#isOutOfDate(target)) return false;
    this.#sent.delete(target.statusUid);
    return true;
  }

  /** Returns the newest version of the object that is known for certain; undefined if the API has to be read. */
  base({ uid, statusUid }: StatusTarget): StatusBase | undefined {
    const copy = this.#copyOf(uid);
    const accepted = this.#accepted.get(statusUid);
    const isNewest =
      accepted &&
      (accepted.copy === copy || accepted.answer.metadata.resourceVersion === copy?.metadata.resourceVersion);
    if (isNewest) return { pod: accepted.answer, isRead: false };
    if (copy?.metadata.uid !== statusUid || copy.metadata.resourceVersion === undefined) return undefined;
    return { pod: copy, isRead: false };
  }

  /** Takes the waiting change for a write; returns since when it has waited. */
  begin({ uid }: StatusTarget): number | undefined {
    const at = this.#changedAt.get(uid);
    this.#changedAt.delete(uid);
    return at;
  }

  written({ uid, statusUid }: StatusTarget, version: number): void {
    this.#sent.set(statusUid, version);
    this.#failing.delete(uid);
  }

  failed({ uid }: StatusTarget, changedAt: number | undefined): void {
    if (changedAt !== undefined) this.#changedAt.set(uid, changedAt);
  }

  isFirstFailure({ uid }: StatusTarget): boolean {
    const isFirst = !this.#failing.has(uid);
    this.#failing.add(uid);
    return isFirst;
  }

  /**
   * `answer` is the API's result of `asked`: an older API server drops unknown fields, and formats quantities its own
   * way.
   */
  accepted({ uid, statusUid }: StatusTarget, { metadata, status }: Pod, asked: PodStatus): void {
    const answer = { metadata: identityOf(metadata), ...(status && { status }) };
    this.#accepted.set(statusUid, { asked, answer, copy: this.#copyOf(uid) });
  }

  /** Whether the API received the same status before, and has the result of that write. */
  isAccepted({ statusUid }: StatusTarget, { status }: ApiPod, asked: PodStatus): boolean {
    const before = this.#accepted.get(statusUid);
    return (
      before !== undefined &&
      isSameJson(withoutEmpty(before.asked), withoutEmpty(asked)) &&
      isSameJson(withoutEmpty(before.answer.status ?? {}), withoutEmpty(status ?? {}))
    );
  }

  forget({ uid, statusUid }: StatusTarget): void {
    this.#sent.delete(statusUid);
    this.#accepted.delete(statusUid);
    this.#changedAt.delete(uid);
    this.#failing.delete(uid);
    this.#compared.delete(uid);
  }

  #isOutOfDate({ uid, statusUid }: StatusTarget): boolean {
    const stored = this.#ports.statuses.stored(uid);
    const copy = this.#copyOf(uid);
    if (!stored || !copy) return false;
    const compared = this.#compared.get(uid);
    if (compared?.copy === copy && compared.status === stored.status) return false;
    if (this.#isDifferent(copy, stored.status, statusUid)) return true;
    this.#compared.set(uid, { copy, status: stored.status });
    return false;
  }

  #isDifferent(copy: Pod, status: PodStatus, statusUid: string): boolean {
    const inApi = normalizedPodStatus(copy.status ?? {});
    if (isSamePodStatus(inApi, status)) return false;
    // The API received the same status, so it has its result of it.
    const accepted = this.#accepted.get(statusUid);
    const isSettled =
      accepted !== undefined &&
      isSamePodStatus(accepted.asked, status) &&
      isSamePodStatus(inApi, normalizedPodStatus(accepted.answer.status ?? {}));
    return !isSettled;
  }

  #copyOf(uid: string): Pod | undefined {
    const pod = this.#ports.pods.get(uid);
    if (!pod) return undefined;
    return isStaticPod(pod) ? this.#ports.pods.resolve(pod).mirrorPod : pod;
  }

  #targetOf(pod: Pod): StatusTarget | undefined {
    const { uid } = pod.metadata;
    if (!isStaticPod(pod)) return { uid, statusUid: uid, ...nameOf(pod) };
    const { mirrorPod } = this.#ports.pods.resolve(pod);
    if (!mirrorPod || !isMirrorOf(mirrorPod, pod)) return undefined;
    const target = { uid, statusUid: mirrorPod.metadata.uid, ...nameOf(pod) };
    const inApi = (this.base(target)?.pod ?? mirrorPod).status;
    const own = this.#ports.statuses.stored(uid)?.status;
    // The mirror pod of an earlier life cannot show the status of this one, since the API refuses that an ended
    // container runs again: the mirror pod is created again.
    if (inApi && own && isOfFormerLife(pod, inApi, own)) return undefined;
    return target;
  }
}

/** The few fields that are needed of an object that receives a status. */
const identityOf = ({
  name,
  namespace,
  uid,
  resourceVersion,
  generation,
  deletionTimestamp,
  annotations,
}: Pod['metadata']): Pod['metadata'] => ({
  name,
  namespace,
  uid,
  resourceVersion,
  generation,
  deletionTimestamp,
  annotations,
});

const nameOf = ({ metadata: { namespace, name } }: Pod) => ({ namespace, name });

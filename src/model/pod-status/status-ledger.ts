import { isSameJson } from '../api/strategic-merge-patch.js';
import { isMirrorOf } from '../mirror-pod.js';
import { isStaticPod, type Pod, type PodStatus } from '../pod.js';
import type { PodManager } from '../pod-manager.js';
import type { PodStatusStore } from '../pod-status-store.js';
import { canBeDeleted } from './pod-deletion.js';
import { isSamePodStatus, normalizedPodStatus, withoutEmpty } from './same-pod-status.js';

/** A pod whose status goes to the API, and the object that carries it there: the pod itself, or the mirror of a static one. */
export interface StatusTarget {
  readonly uid: string;
  readonly statusUid: string;
  readonly namespace: string;
  readonly name: string;
}

/** As much of an object of the API as a status is written by. */
export type ApiPod = Pick<Pod, 'metadata' | 'status'>;

/** What a patch is made from. */
export interface StatusBase {
  readonly pod: ApiPod;
  /** It was read just now; else somebody may have written since. */
  readonly isRead: boolean;
}

/** What the API has answered a write with. */
interface Accepted {
  /** What was asked for. */
  readonly asked: PodStatus;
  readonly answer: ApiPod;
  /** The copy that was at hand when it was asked for. */
  readonly copy: Pod | undefined;
}

interface LedgerPorts {
  readonly statuses: Pick<PodStatusStore, 'stored' | 'uids'>;
  readonly pods: Pick<PodManager, 'get' | 'resolve'>;
}

/**
 * What is known of the way of statuses into the API: which version of each was written, what the API made of it, and what has not
 * been written yet. Times are the caller's milliseconds.
 *
 * Source: apiStatusVersions, needsUpdate and needsReconcile in pkg/kubelet/status/status_manager.go
 */
export class StatusLedger {
  readonly #ports: LedgerPorts;
  /** By the UID of the object in the API. */
  readonly #sent = new Map<string, number>();
  readonly #accepted = new Map<string, Accepted>();
  /** By the UID of the pod: since when something of it waits to be written. */
  readonly #changedAt = new Map<string, number>();
  readonly #failing = new Set<string>();
  /** What was found to say the same: most passes change nothing, and comparing takes long. */
  readonly #compared = new Map<string, { readonly copy: Pod; readonly status: PodStatus }>();

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
  }

  noteChange(uid: string, now: number): void {
    if (!this.#changedAt.has(uid) && this.due(uid, true)) this.#changedAt.set(uid, now);
  }

  /** Where the status of the pod is to be written, if there is something to write or the pod has to be removed. */
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
   * The pods whose statuses are due, with those of which the API does not say what it was told. Forgets what belongs to no pod any
   * more.
   */
  reconcile(): readonly string[] {
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
    return [...targets.values()].flatMap((target) => {
      if (this.due(target.uid)) return [target.uid];
      if (!this.#isOutOfDate(target)) return [];
      this.#sent.delete(target.statusUid);
      return [target.uid];
    });
  }

  /** The newest version of the object that is known for sure; undefined when only the API can say. */
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

  /** The write takes what waits; the result says since when it has waited. */
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

  /** `answer` is what the API made of `asked`: an older one drops fields that it does not know, and spells quantities its own way. */
  accepted({ uid, statusUid }: StatusTarget, { metadata, status }: Pod, asked: PodStatus): void {
    const answer = { metadata: identityOf(metadata), ...(status && { status }) };
    this.#accepted.set(statusUid, { asked, answer, copy: this.#copyOf(uid) });
  }

  /** The API was asked for the same before, and what it has now is what it made of it then. */
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
    // Told the same as now, the API has what it made of it.
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
    return { uid, statusUid: mirrorPod.metadata.uid, ...nameOf(pod) };
  }
}

/** Of the object that carries a status no more is needed, and there is much more. */
const identityOf = ({
  name,
  namespace,
  uid,
  resourceVersion,
  generation,
  deletionTimestamp,
  annotations,
}: Pod['metadata']): Pod['metadata'] => ({
  ...{ name, namespace, uid, resourceVersion, generation, deletionTimestamp, annotations },
});

const nameOf = ({ metadata: { namespace, name } }: Pod) => ({ namespace, name });

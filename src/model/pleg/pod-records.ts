import type { PodRef } from '../pod/pod.js';
import { countRunning } from './pleg.js';
import {
  type FoldedPod,
  foldRead,
  foldRemoval,
  isSpent,
  newPodRecord,
  nextStep,
  type PodRecord,
  type PodStep,
  runningItems,
  withHint,
  withListing,
  withReadBegun,
  withReadFailed,
  withRequest,
} from './pod-record.js';
import type { RuntimeItem, RuntimePod, RuntimePodStatus } from './runtime-pod.js';

/** The state of all pods in the PLEG: takes its inputs and returns the work to do. All times are the scheduler's milliseconds. */
export class PodRecords {
  readonly #records = new Map<string, PodRecord>();
  #relistedAt = -Infinity;
  #hasRelistFailed = false;

  /** The time of the request of the last successful relist; undefined before the first. */
  get lastRelistAt(): number | undefined {
    return this.#relistedAt === -Infinity ? undefined : this.#relistedAt;
  }

  /** Whether the last relist failed. */
  get isRelistFailed(): boolean {
    return this.#hasRelistFailed;
  }

  /** Whether the last relist or the last read of any pod failed. Called every second, so it allocates nothing. */
  get isBehind(): boolean {
    if (this.#hasRelistFailed) return true;
    for (const { hasFailed } of this.#records.values()) if (hasFailed) return true;
    return false;
  }

  get uids(): Iterable<string> {
    return this.#records.keys();
  }

  /** The runtime sent an event of the pod. */
  hint(uid: string): void {
    this.#records.set(uid, withHint(this.#get(uid)));
  }

  /** The agent changed the pod, or waits for a newer view of it. */
  request(uid: string, at: number): void {
    this.#records.set(uid, withRequest(this.#get(uid), at));
  }

  /** Whether a read of the pod in flight began after `newerThan`. */
  isReadAfter(uid: string, newerThan: number): boolean {
    return (this.#records.get(uid)?.readingSince ?? -Infinity) > newerThan;
  }

  /** Takes a relist requested at `at`. Returns the UIDs of the pods with due work: the listed pods first, then the missing ones. */
  relisted(pods: readonly RuntimePod[], at: number): readonly string[] {
    const due: string[] = [];
    const take = (before: PodRecord, items: readonly RuntimeItem[]): void => {
      const after = withListing(before, items, at);
      if (after === before) return;
      this.#records.set(before.ref.uid, after);
      due.push(before.ref.uid);
    };
    this.#relistedAt = at;
    this.#hasRelistFailed = false;
    const listed = new Set<string>();
    for (const pod of pods) {
      listed.add(pod.uid);
      if (!this.#records.has(pod.uid)) this.#records.set(pod.uid, newPodRecord(pod));
      take(this.#get(pod.uid), pod.items);
    }
    for (const [uid, record] of this.#records) if (!listed.has(uid)) take(record, []);
    return due;
  }

  relistFailed(): void {
    this.#hasRelistFailed = true;
  }

  /** Takes the step that is due for the pod, and drops work that needs none. Undefined for an unknown pod. */
  takeStep(uid: string): PodStep | undefined {
    const record = this.#records.get(uid);
    if (!record) return undefined;
    const step = nextStep(record, this.#relistedAt);
    if (step === 'none') this.#records.set(uid, { ...record, due: undefined });
    return step;
  }

  /** A read of the pod begins at `at`. Returns the arguments of that read: the pod, and the items that last ran. */
  readBegins(uid: string, at: number): { readonly ref: PodRef; readonly ran: readonly RuntimeItem[] } {
    const record = withReadBegun(this.#get(uid), at);
    this.#records.set(uid, record);
    return { ref: record.ref, ran: runningItems(record.known) };
  }

  /** The read of the pod in flight returned `status`. */
  readEnded(uid: string, status: RuntimePodStatus): FoldedPod {
    return this.#take(uid, foldRead(this.#get(uid), status));
  }

  readFailed(uid: string): void {
    this.#records.set(uid, withReadFailed(this.#get(uid)));
  }

  /** The pod is gone: a relist does not show it. */
  removed(uid: string): FoldedPod {
    return this.#take(uid, foldRemoval(this.#get(uid)));
  }

  /** The end of a step. Returns whether no further work is due for the pod; forgets the pod if it is gone. */
  stepEnded(uid: string): boolean {
    const record = this.#records.get(uid);
    if (record && isSpent(record)) this.#records.delete(uid);
    return !record?.due;
  }

  /** The counts of running pods, and of containers by state. */
  countRunning(): ReturnType<typeof countRunning> {
    return countRunning(this.#items());
  }

  *#items() {
    for (const { known } of this.#records.values()) yield { items: known.values() };
  }

  #get(uid: string): PodRecord {
    return this.#records.get(uid) ?? newPodRecord({ uid, namespace: '', name: '' });
  }

  #take(uid: string, folded: FoldedPod): FoldedPod {
    this.#records.set(uid, folded.record);
    return folded;
  }
}

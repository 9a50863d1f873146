import type { PodRef } from '../../../model/pod/pod.js';
import type { Plain, RecordingEntry } from './recording-entry.js';

type Fields = Readonly<Record<string, Plain | undefined>>;

const UID_LABEL = 'io.kubernetes.pod.uid';
const NAME_LABEL = 'io.kubernetes.pod.name';
const NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';

/** Finds the pod of an entry of a recording, by the entries before it. */
export class PodFinder {
  /** Pods by their UIDs and by the ids of their sandboxes and containers. */
  readonly #known = new Map<string, PodRef>();
  readonly #calls = new Map<number, PodRef>();
  /** The pod of the current step. */
  #step: PodRef | undefined;

  /** Returns the pod of the entry; undefined for none or several. Called for every entry, in order. */
  see(entry: RecordingEntry): PodRef | undefined {
    if ('at' in entry) this.#step = undefined;
    const pod = this.#podOf(entry);
    if (pod) this.#step = pod;
    return pod;
  }

  /**
   * Returns the pod of an output that is missing in the replay: the result that `see` would return, or the last pod of
   * the step.
   */
  guess(entry: RecordingEntry | undefined): PodRef | undefined {
    return (entry && this.#podOf(entry)) ?? this.#step;
  }

  #podOf(entry: RecordingEntry): PodRef | undefined {
    switch (entry.kind) {
      case 'journal': {
        if (entry.record.pod) this.#learn(entry.record.pod.uid, entry.record.pod);
        return entry.record.pod;
      }
      case 'call': {
        this.#learnFrom(entry.args);
        const pod = this.#mentionedIn(entry.args);
        if (pod) this.#calls.set(entry.call, pod);
        return pod;
      }
      case 'reply': {
        if (entry.value === undefined) return this.#calls.get(entry.call);
        this.#learnFrom(entry.value);
        const pod = this.#calls.get(entry.call);
        const { podSandboxId, containerId } = entry.value as Fields;
        for (const id of [podSandboxId, containerId]) if (pod && typeof id === 'string') this.#learn(id, pod);
        return pod ?? this.#mentionedIn(entry.value);
      }
      case 'failed':
      case 'completed':
      case 'given-up': {
        const pod = this.#calls.get(entry.call);
        this.#calls.delete(entry.call);
        return pod;
      }
      case 'told':
      case 'asked':
        return this.#mentionedIn(entry.args);
      case 'outcome':
        return this.#mentionedIn((entry.outcome as Fields).uid ?? null);
      default:
        return undefined;
    }
  }

  #learn(id: string, pod: PodRef): void {
    if (id !== '') this.#known.set(id, pod);
  }

  /** Finds sandboxes, containers and pods anywhere in a value. */
  #learnFrom(value: Plain): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value as readonly Plain[]) this.#learnFrom(item);
      return;
    }
    const { id, metadata, labels, podSandboxId, ...rest } = value as Fields;
    const pod = refOf(metadata) ?? refOfLabels(labels);
    if (pod) {
      this.#learn(pod.uid, pod);
      for (const name of [id, podSandboxId]) if (typeof name === 'string') this.#learn(name, pod);
    }
    for (const item of Object.values(rest)) if (item !== undefined) this.#learnFrom(item);
  }

  /** Returns the one pod that an id, a UID or a path with one of them names. */
  #mentionedIn(value: Plain): PodRef | undefined {
    const found = new Map<string, PodRef>();
    const look = (item: Plain | undefined): void => {
      if (typeof item === 'string') {
        for (const part of item.includes('/') ? item.split(/[/_]/) : [item]) {
          const pod = this.#known.get(part);
          if (pod) found.set(pod.uid, pod);
        }
      } else if (Array.isArray(item)) (item as readonly Plain[]).forEach(look);
      else if (typeof item === 'object' && item !== null) Object.values(item as Fields).forEach(look);
    };
    look(value);
    return found.size === 1 ? [...found.values()][0] : undefined;
  }
}

const refOf = (metadata: Plain | undefined): PodRef | undefined => {
  const { uid, name, namespace } = (metadata ?? {}) as Fields;
  return typeof uid === 'string' && typeof name === 'string' && typeof namespace === 'string'
    ? { uid, name, namespace }
    : undefined;
};

const refOfLabels = (labels: Plain | undefined): PodRef | undefined => {
  const { [UID_LABEL]: uid, [NAME_LABEL]: name, [NAMESPACE_LABEL]: namespace } = (labels ?? {}) as Fields;
  return refOf({ uid: uid ?? null, name: name ?? null, namespace: namespace ?? null });
};

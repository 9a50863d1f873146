import { type ApiResource, qualifiedName } from './api-resource.js';
import { tooOld } from './api-refusals.js';
import type { StoredObject } from './stored-object.js';

/** One change of one object, as watches receive it. */
export interface StoredChange {
  readonly revision: number;
  readonly at: number;
  readonly resource: ApiResource;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The new version; of a deleted object the last one, with the version of its deletion. */
  readonly object: StoredObject;
  readonly before?: StoredObject;
}

export interface ObjectStoreOptions {
  readonly now: () => number;
  /** The number of changes that are kept for watches that begin in the past. */
  readonly keptChanges: number;
  readonly changed: (change: StoredChange) => void;
}

/** Objects by kind, namespace and name, with one counter for all their versions, as in etcd. */
export class ObjectStore {
  readonly #objects = new Map<string, StoredObject>();
  #changes: StoredChange[] = [];
  #revision = 1;
  /** The newest version that is no longer kept. */
  #compacted = 1;

  constructor(private readonly options: ObjectStoreOptions) {}

  get revision(): number {
    return this.#revision;
  }

  get compacted(): number {
    return this.#compacted;
  }

  get(resource: ApiResource, namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(keyOf(resource, namespace, name));
  }

  /** The objects of one namespace, or of all; in the order of their keys. */
  list(resource: ApiResource, namespace = ''): readonly StoredObject[] {
    return sorted(this.#objects, prefixOf(resource, namespace));
  }

  /** The objects at a version. Errors: throws if it is no longer kept. */
  listAt(resource: ApiResource, namespace: string, revision: number): readonly StoredObject[] {
    if (revision < this.#compacted) throw tooOld(revision, this.#compacted);
    const objects = new Map(this.#objects);
    for (const { revision: made, resource: of, object, before } of this.#changes.toReversed()) {
      if (made <= revision) break;
      const key = keyOf(of, object.metadata.namespace ?? '', object.metadata.name ?? '');
      if (before) objects.set(key, before);
      else objects.delete(key);
    }
    return sorted(objects, prefixOf(resource, namespace));
  }

  /** The newest version at a time, as far as it is still kept. */
  revisionAt(at: number): number {
    return this.#changes.findLast((change) => change.at <= at)?.revision ?? this.#compacted;
  }

  /** The changes after a version, in order. Errors: throws if some of them are no longer kept. */
  changesAfter(revision: number): readonly StoredChange[] {
    if (revision < this.#compacted) throw tooOld(revision, this.#compacted);
    return this.#changes.filter((change) => change.revision > revision);
  }

  /** Stores the object with a version of its own; returns the stored object. */
  put(resource: ApiResource, object: StoredObject): StoredObject {
    const { namespace = '', name = '' } = object.metadata;
    const key = keyOf(resource, namespace, name);
    const before = this.#objects.get(key);
    const kept = this.#versioned(object);
    this.#objects.set(key, kept);
    this.#note({ resource, type: before ? 'MODIFIED' : 'ADDED', object: kept, ...(before && { before }) });
    return kept;
  }

  /** Removes an object; returns it with the version of its deletion. */
  remove(resource: ApiResource, before: StoredObject): StoredObject {
    const { namespace = '', name = '' } = before.metadata;
    this.#objects.delete(keyOf(resource, namespace, name));
    const gone = this.#versioned(before);
    this.#note({ resource, type: 'DELETED', object: gone, before });
    return gone;
  }

  /** Forgets the versions before now: requests for an older one are refused as too old. */
  compact(): void {
    this.#changes = [];
    this.#compacted = this.#revision;
  }

  #versioned(object: StoredObject): StoredObject {
    this.#revision += 1;
    return frozen({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } });
  }

  #note(change: Omit<StoredChange, 'revision' | 'at'>): void {
    const noted: StoredChange = { ...change, revision: this.#revision, at: this.options.now() };
    this.#changes.push(noted);
    // In larger steps, since removing one costs as much as removing all of them.
    if (this.#changes.length > 2 * this.options.keptChanges) {
      const dropped = this.#changes.splice(0, this.#changes.length - this.options.keptChanges);
      this.#compacted = dropped.at(-1)!.revision;
    }
    this.options.changed(noted);
  }
}

const prefixOf = (resource: ApiResource, namespace: string): string =>
  `${qualifiedName(resource)}/${namespace === '' ? '' : `${namespace}/`}`;

const keyOf = (resource: ApiResource, namespace: string, name: string): string =>
  `${qualifiedName(resource)}/${resource.isNamespaced ? `${namespace}/` : ''}${name}`;

const sorted = (objects: ReadonlyMap<string, StoredObject>, prefix: string): readonly StoredObject[] =>
  [...objects]
    .filter(([key]) => key.startsWith(prefix))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, object]) => object);

/** A copy, since the agent must not change the object for other clients. */
const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) frozen(item);
  return value;
};

import type { Image } from '../../../generated/runtime/v1/api.js';
import { completeName, nameWithoutTag } from '../../../model/images/image-reference.js';
import type { ImageBehaviour } from '../world/behaviour.js';
import { seededRandom } from '../world/seeded-random.js';
import { imageBehaviours } from './behaviour-of.js';
import { hexIds } from './hex-ids.js';
import type { RuntimeWorld } from './runtime-world.js';

const SIZE_BYTES = 50_000_000;

/** The images of the simulated node, each with one name. */
export class ImageStore {
  readonly #images = new Map<string, Image>();
  /** Ids by complete name. */
  readonly #names = new Map<string, string>();
  /** The forms of its name by which an image was added or found, by its id. */
  readonly #usedNames = new Map<string, Set<string>>();
  readonly #behaviourOf: (name: string) => ImageBehaviour;

  constructor({ behaviours }: Pick<RuntimeWorld, 'behaviours'>) {
    this.#behaviourOf = imageBehaviours(behaviours);
    for (const [name, { isPresent }] of Object.entries(behaviours.images ?? {})) {
      if (isPresent && name !== '*') this.add(name);
    }
  }

  behaviourOf(name: string): ImageBehaviour {
    return this.#behaviourOf(name);
  }

  /** Finds an image by id or by any form of its name. Images matched by `*` are created on first use. */
  find(nameOrId: string): Image | undefined {
    const known = this.#images.get(nameOrId) ?? this.#images.get(this.#names.get(completeName(nameOrId)) ?? '');
    if (known) {
      if (nameOrId !== known.id) this.#usedNames.get(known.id)?.add(nameOrId);
      return known;
    }
    const isPresent = !this.#wasRemoved.has(completeName(nameOrId)) && this.#behaviourOf(nameOrId).isPresent === true;
    return isPresent && !/^sha256:/.test(nameOrId) ? this.add(nameOrId) : undefined;
  }

  readonly #wasRemoved = new Set<string>();

  add(name: string): Image {
    const complete = completeName(name);
    // The digest of an image is the same on every node and for every pull.
    const newId = hexIds(seededRandom(complete));
    const id = `sha256:${newId()}`;
    const repository = nameWithoutTag(complete);
    const isDigest = complete.includes('@');
    const image: Image = {
      id,
      repoTags: isDigest ? [] : [complete],
      repoDigests: [isDigest ? complete : `${repository}@sha256:${newId()}`],
      size: BigInt(this.#behaviourOf(name).sizeBytes ?? SIZE_BYTES),
      uid: { value: 0n },
      username: '',
      spec: undefined,
      pinned: false,
    };
    this.#images.set(id, image);
    this.#names.set(complete, id);
    this.#usedNames.set(id, new Set([name]));
    return image;
  }

  /** Returns the forms of its name by which it was known. */
  remove(image: Image): readonly string[] {
    this.#images.delete(image.id);
    for (const [name, id] of this.#names) {
      if (id !== image.id) continue;
      this.#names.delete(name);
      this.#wasRemoved.add(name);
    }
    const used = [...(this.#usedNames.get(image.id) ?? [])];
    this.#usedNames.delete(image.id);
    return used;
  }

  all(): readonly Image[] {
    return [...this.#images.values()];
  }

  /** Bytes of all images together. */
  used(): bigint {
    let sum = 0n;
    for (const { size } of this.#images.values()) sum += size;
    return sum;
  }
}

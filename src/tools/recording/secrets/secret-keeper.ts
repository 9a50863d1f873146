import { binaryText, type Redact } from '../entries/encode-value.js';

/**
 * Shorter texts occur in too many others to mean the secret there; they are only replaced if they are the whole of a
 * value.
 */
const SHORTEST_ANYWHERE = 6;

/**
 * Keeps the secrets that must not be written and replaces them by `<secret 3>`, numbered in the order of their first
 * occurrence. A secret has the same placeholder everywhere, so that a replay, whose loop receives `<secret 3>`,
 * produces the same texts. It is also replaced inside other texts, in base64, as JSON and as part of a URL.
 *
 * Public texts of pods and of the node, such as the plain `env` of a manifest, are no secrets: they stay, since values
 * that the loop computes from them would otherwise change. A secret with the same text is only replaced in the fields
 * of secrets.
 */
export class SecretKeeper {
  /** By form, also of a public one. */
  readonly #placeholders = new Map<string, string>();
  readonly #hidden = new Set<string>();
  readonly #hiddenWhole = new Set<string>();
  readonly #open = new Map<string, unknown>();
  /** The next two do not fit to the hidden forms any more. */
  #isOutdated = false;
  /** The first characters of the hidden forms. The forms themselves may be too long for a pattern. */
  #heads: RegExp | undefined;
  /** The hidden forms by their first characters, longest first: one may be the beginning of another. */
  #formsByHead: ReadonlyMap<string, readonly string[]> = new Map();

  /** Returns the placeholder of a secret; an empty text is none. From now on it is replaced in every text. */
  learn(secret: string): string {
    if (secret === '') return secret;
    if (!this.#placeholders.has(secret)) {
      for (const form of formsOf(secret)) this.#hide(form);
      // The form of a text within bytes that are not text.
      const binary = binaryText(new TextEncoder().encode(secret));
      if (binary !== secret) this.#hide(binary, this.#placeholders.get(secret));
    }
    return this.#placeholders.get(secret)!;
  }

  /** The same for a secret that is not UTF-8, whose placeholder is not either. It is replaced in bytes, and in base64. */
  learnBytes(secret: Uint8Array): Uint8Array {
    const binary = binaryText(secret);
    this.#hide(binary, `\xff${this.#newPlaceholder(binary)}`);
    this.learn(btoa(binary).replace(/=+$/, ''));
    return Uint8Array.from(this.#placeholders.get(binary)!, (character) => character.charCodeAt(0));
  }

  /**
   * Returns the placeholder of a text that may be a secret, or the text itself if it is public or too short: it would stay in
   * other texts, and a replay that computes them from a placeholder would differ.
   */
  learnIfHideable(text: string): string {
    if (text.length < SHORTEST_ANYWHERE) return text;
    const hidden = this.learn(text);
    return this.#hidden.has(text) ? hidden : text;
  }

  /** Adds the texts that registries receive for every user and password in a value: both in one, in base64. */
  learnLogins(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { username, password } = value as { readonly username?: unknown; readonly password?: unknown };
    if (typeof username === 'string' && typeof password === 'string' && password !== '')
      this.learn(base64(`${username}:${password}`));
    for (const item of Object.values(value)) this.learnLogins(item);
  }

  /** Sets the public texts of `who`, in place of its earlier ones. */
  publish(who: string, value: unknown): void {
    this.#open.set(who, value);
    for (const secret of [...this.#hiddenWhole]) if (says(value, secret)) this.#hiddenWhole.delete(secret);
    const said = [...this.#hidden].filter((secret) => mentions(value, secret));
    for (const secret of said) this.#hidden.delete(secret);
    if (said.length > 0) this.#isOutdated = true;
  }

  /** Replaces secrets anywhere in a text. */
  readonly text: Redact = (text, key) => {
    // Such as a variable of the environment.
    if (key === 'value' && this.#hiddenWhole.has(text)) return this.#placeholders.get(text)!;
    if (this.#isOutdated) this.#compile();
    const heads = this.#heads;
    if (!heads || text.length < SHORTEST_ANYWHERE) return text;
    let result = '';
    let from = 0;
    heads.lastIndex = 0;
    for (let found = heads.exec(text); found; found = heads.exec(text)) {
      const { index } = found;
      const form = this.#formsByHead.get(found[0])?.find((one) => text.startsWith(one, index));
      if (form === undefined) {
        heads.lastIndex = index + 1;
        continue;
      }
      result += text.slice(from, index) + this.#placeholders.get(form)!;
      from = index + form.length;
      heads.lastIndex = from;
    }
    return from === 0 ? text : result + text.slice(from);
  };

  /** The same for a value in which each of these fields is a secret as a whole. */
  readonly inFields =
    (fields: ReadonlySet<string>): Redact =>
    (text, key) =>
      fields.has(key) ? this.learn(text) : this.text(text, key);

  /** ASCII without a colon, with a NUL if the secret has one: code that decodes or splits it fails or succeeds as with the secret itself. */
  #newPlaceholder(secret: string): string {
    return `<secret ${this.#placeholders.size + 1}>${secret.includes('\0') ? '\0' : ''}`;
  }

  #hide(form: string, placeholder = this.#newPlaceholder(form)): void {
    if (this.#placeholders.has(form)) return;
    this.#placeholders.set(form, placeholder);
    if (form.length < SHORTEST_ANYWHERE) {
      if (![...this.#open.values()].some((value) => says(value, form))) this.#hiddenWhole.add(form);
      return;
    }
    if ([...this.#open.values()].some((value) => mentions(value, form))) return;
    this.#hidden.add(form);
    this.#isOutdated = true;
  }

  #compile(): void {
    this.#isOutdated = false;
    const byHead = new Map<string, string[]>();
    for (const form of [...this.#hidden].sort((one, other) => other.length - one.length)) {
      const head = form.slice(0, SHORTEST_ANYWHERE);
      byHead.set(head, [...(byHead.get(head) ?? []), form]);
    }
    this.#formsByHead = byHead;
    this.#heads = byHead.size > 0 ? new RegExp([...byHead.keys()].map(escaped).join('|'), 'g') : undefined;
  }
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  ...[JSON.stringify(secret).slice(1, -1), encodeURIComponent(wellFormed(secret)), base64(secret)].filter(
    (form) => form !== secret,
  ),
];

/** Without the padding, which a text may lack. */
export const base64 = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  // A call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary).replace(/=+$/, '');
};

const CHUNK = 8192;

/** Half of a surrogate pair is invalid in a URL. */
const wellFormed = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a text of the value equals this one. */
const says = (value: unknown, text: string): boolean => {
  if (typeof value !== 'object' || value === null) return value === text;
  if (value instanceof Map) return says([...value], text);
  return Object.values(value).some((item) => says(item, text));
};

const mentions = (value: unknown, text: string): boolean => {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Map) return mentions([...value], text);
  return Object.entries(value).some(([key, item]) => key.includes(text) || mentions(item, text));
};

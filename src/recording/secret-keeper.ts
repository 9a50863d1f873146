import type { Redact } from './encode-value.js';

/** Shorter texts stand in too many others to mean the secret there; they are only replaced where they are all of a value. */
const SHORTEST_ANYWHERE = 6;

/**
 * Knows what must not be written and puts `<secret 3>` in its place, numbered in the order in which secrets have shown up: the
 * same wherever it is carried on to, so that a replay, whose loop is given `<secret 3>`, says the same. Inside other texts it is
 * replaced as well, also in base64, as JSON and as part of a URL.
 *
 * What pods and the node say openly, such as the plain `env` of a manifest, is no secret any more: it stays as it is, since
 * what the loop computes from it would change with it. A secret that says the same is only replaced in the fields of secrets.
 */
export class SecretKeeper {
  readonly #numbers = new Map<string, number>();
  readonly #hidden = new Set<string>();
  readonly #hiddenWhole = new Set<string>();
  readonly #open = new Map<string, unknown>();
  #pattern: RegExp | undefined;

  /** What stands for a secret; an empty one is none. From now on it is hidden in every text. */
  learn(secret: string): string {
    if (secret === '') return secret;
    if (!this.#numbers.has(secret)) {
      for (const form of formsOf(secret)) this.#hide(form);
    }
    return placeholder(this.#numbers.get(secret)!);
  }

  /** Learns what registries are sent for every user and password in a value: both in one, in base64. */
  learnLogins(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { username, password } = value as { readonly username?: unknown; readonly password?: unknown };
    if (typeof username === 'string' && typeof password === 'string' && password !== '')
      this.learn(base64(`${username}:${password}`));
    for (const item of Object.values(value)) this.learnLogins(item);
  }

  /** What `who` says in the open from now on, in place of what it said before. */
  publish(who: string, value: unknown): void {
    this.#open.set(who, value);
    for (const secret of [...this.#hiddenWhole]) if (says(value, secret)) this.#hiddenWhole.delete(secret);
    const said = [...this.#hidden].filter((secret) => mentions(value, secret));
    for (const secret of said) this.#hidden.delete(secret);
    if (said.length > 0) this.#compile();
  }

  /** Replaces secrets wherever they stand in a text. */
  readonly text: Redact = (text, key) => {
    // Such as that of a variable of the environment.
    if (key === 'value' && this.#hiddenWhole.has(text)) return placeholder(this.#numbers.get(text)!);
    if (!this.#pattern || text.length < SHORTEST_ANYWHERE) return text;
    return text.replace(this.#pattern, (secret) => placeholder(this.#numbers.get(secret)!));
  };

  /** The same for a value in which the whole of each of these fields is a secret. */
  readonly inFields =
    (fields: ReadonlySet<string>): Redact =>
    (text, key) =>
      fields.has(key) ? this.learn(text) : this.text(text, key);

  #hide(form: string): void {
    if (this.#numbers.has(form)) return;
    this.#numbers.set(form, this.#numbers.size + 1);
    if (form.length < SHORTEST_ANYWHERE) {
      if (![...this.#open.values()].some((value) => says(value, form))) this.#hiddenWhole.add(form);
      return;
    }
    if ([...this.#open.values()].some((value) => mentions(value, form))) return;
    this.#hidden.add(form);
    this.#compile();
  }

  #compile(): void {
    // A secret may be the beginning of another one.
    const longestFirst = [...this.#hidden].sort((one, other) => other.length - one.length);
    this.#pattern = longestFirst.length > 0 ? new RegExp(longestFirst.map(escaped).join('|'), 'g') : undefined;
  }
}

/** ASCII without a colon: where it is decoded or taken apart, it fails as the secret itself would, or goes on as one. */
const placeholder = (number: number): string => `<secret ${number}>`;

const formsOf = (secret: string): readonly string[] => [
  secret,
  ...[JSON.stringify(secret).slice(1, -1), encodeURIComponent(wellFormed(secret)), base64(secret)].filter(
    (form) => form !== secret,
  ),
];

/** Without the padding, which a text may lack. */
export const base64 = (text: string): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text))).replace(/=+$/, '');

/** Half of a surrogate pair has no place in a URL. */
const wellFormed = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether some text of the value is just that one. */
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

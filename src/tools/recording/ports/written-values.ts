import type { PullSecret } from '../../../model/images/pull-secret.js';
import { encodeValue, decodeValue, type Redact } from '../entries/encode-value.js';
import { hideApiSecrets } from '../secrets/hide-api-secrets.js';
import { hideEnvFile } from '../secrets/hide-env-file.js';
import { hidePullSecret } from '../secrets/hide-pull-secret.js';
import { ItemsReader, ItemsWriter } from './known-items.js';
import type { AskedRule, CallRule, ToldRule } from './port-table.js';
import type { KnownItems, Plain } from '../entries/recording-entry.js';
import type { SecretKeeper } from '../secrets/secret-keeper.js';

/** Encodes arguments as a recording does; a replay, which contains no secret, hides nothing. */
export const writtenArgs = (
  rule: CallRule | AskedRule | ToldRule,
  args: readonly unknown[],
  secrets?: SecretKeeper,
): readonly Plain[] => {
  const written = 'written' in rule && rule.written ? rule.written(...(args as never[])) : args;
  const redact = secrets && redactFor(rule, secrets);
  const hide = secrets && 'holdsApiObjects' in rule && rule.holdsApiObjects;
  return written.map((arg) => encodeValue(hide ? hideApiSecrets(arg, secrets) : arg, redact));
};

/** The result of a port that returns at once. */
export const writtenAnswer = (rule: AskedRule, answer: unknown, secrets: SecretKeeper): Plain =>
  rule.answersSecret && typeof answer === 'string'
    ? secrets.learn(answer)
    : encodeValue(answer, redactFor(rule, secrets));

/** Writes the replies of one port. */
export class ReplyWriter {
  readonly #items: ItemsWriter | undefined;

  constructor(
    private readonly rule: CallRule,
    private readonly path: string,
    private readonly secrets: SecretKeeper,
  ) {
    this.#items = rule.items && new ItemsWriter(rule.items.idOf);
  }

  write(given: unknown): Plain {
    const reply = this.#withHiddenObjects(given);
    const { items, repliesPullSecrets, repliesEnvFiles, isPublic, holdsApiObjects } = this.rule;
    if (repliesEnvFiles) return encodeValue(hideEnvFile(reply as Uint8Array, this.secrets), this.secrets.text);
    if (holdsApiObjects) return encodeValue(hideApiSecrets(reply, this.secrets), redactFor(this.rule, this.secrets));
    if (repliesPullSecrets) {
      return encodeValue((reply as readonly PullSecret[]).map((secret) => hidePullSecret(secret, this.secrets)));
    }
    if (this.rule.secrets) this.secrets.learnLogins(reply);
    const isOpen = isPublic?.(reply) ?? false;
    if (isOpen) this.secrets.publish(this.path, reply);
    const redact = isOpen ? undefined : redactFor(this.rule, this.secrets);
    const listed = items && (reply as Readonly<Record<string, unknown>>)[items.field];
    if (!items || !Array.isArray(listed)) return encodeValue(reply, redact);
    const rest = encodeValue({ ...(reply as object), [items.field]: undefined }, redact) as Record<string, Plain>;
    const known = this.#items!.write(listed, (item) => encodeValue(item, redact));
    return { ...rest, [items.field]: known as unknown as Plain };
  }

  #withHiddenObjects(reply: unknown): unknown {
    const { objects: field } = this.rule;
    const objects = field === undefined ? undefined : (reply as Readonly<Record<string, unknown>>)[field];
    return objects === undefined ? reply : { ...(reply as object), [field!]: hideApiSecrets(objects, this.secrets) };
  }

  /** Errors of reading secrets may quote them. */
  writeError(error: unknown): Plain {
    const { repliesPullSecrets } = this.rule;
    if (repliesPullSecrets && error instanceof Error) this.secrets.learn(error.message);
    return encodeValue(error, redactFor(this.rule, this.secrets));
  }
}

/** Reads them again. */
export class ReplyReader {
  readonly #items = new ItemsReader();

  constructor(private readonly rule: CallRule) {}

  read(reply: Plain | undefined): unknown {
    const { items } = this.rule;
    if (reply === undefined) return undefined;
    if (items === undefined) return decodeValue(reply);
    const { [items.field]: listed, ...rest } = reply as Readonly<Record<string, Plain>>;
    if (!isKnownItems(listed)) return decodeValue(reply);
    return { ...(decodeValue(rest) as object), [items.field]: this.#items.read(listed, decodeValue) };
  }
}

const isKnownItems = (plain: unknown): plain is KnownItems =>
  typeof plain === 'object' && plain !== null && '$items' in plain;

const redactFor = (rule: CallRule | AskedRule | ToldRule, secrets: SecretKeeper): Redact =>
  'secrets' in rule && rule.secrets ? secrets.inFields(rule.secrets) : secrets.text;

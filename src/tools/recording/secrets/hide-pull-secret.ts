import type { PullSecret } from '../../../model/images/pull-secret.js';
import { base64, type SecretKeeper } from './secret-keeper.js';

/**
 * Replaces the secret parts of a pull secret by placeholders, so that its reader finds the same registries and users,
 * or fails with the same message.
 */
export const hidePullSecret = (secret: PullSecret, keeper: SecretKeeper): PullSecret => ({
  ...secret,
  data: Object.fromEntries(Object.entries(secret.data).map(([key, text]) => [key, hideDockerConfig(text, keeper)])),
});

/** The same for one of its texts; a text that is not JSON is a secret as a whole. */
export const hideDockerConfig = (text: string, keeper: SecretKeeper): string => {
  const config = parsed(text);
  if (config === undefined) return keeper.learn(text);
  keeper.learnLogins(config);
  const hidden = JSON.stringify(hide(config, '', keeper));
  keeper.learn(text);
  return hidden;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** Names of registries and users are no secrets; any other text may be one. */
const OPEN: ReadonlySet<string> = new Set(['username', 'email']);

const hide = (value: unknown, key: string, keeper: SecretKeeper): unknown => {
  if (typeof value === 'string') return OPEN.has(key) ? value : keeper.learn(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => hide(item, key, keeper));
  const { auth, ...rest } = value as Readonly<Record<string, unknown>>;
  const fields = Object.fromEntries(Object.entries(rest).map(([name, item]) => [name, hide(item, name, keeper)]));
  if (auth === undefined) return fields;
  return { ...fields, auth: typeof auth === 'string' ? hideAuth(auth, keeper) : auth };
};

/** Replaces the password in base64 of `user:password`. */
const hideAuth = (auth: string, keeper: SecretKeeper): string => {
  if (auth === '') return auth;
  const hidden = keeper.learn(auth);
  const decoded = fromBase64(auth.replace(/[\r\n]/g, ''));
  if (decoded === undefined) return hidden;
  const colon = decoded.indexOf(':');
  if (colon < 0) return base64(keeper.learn(decoded));
  return base64(`${decoded.slice(0, colon)}:${keeper.learn(decoded.slice(colon + 1))}`);
};

/** `undefined` for a text that the parser of the configuration does not decode as base64 either. */
const fromBase64 = (text: string): string | undefined => {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
};

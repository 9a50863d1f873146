/** A credential for a registry. Never written to a log or to the journal. */
export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
  /** The token of a registry with tokens, instead of the password. */
  readonly identityToken?: string;
}

/**
 * Credentials by registry, with the keys of Docker's `config.json`: `https://index.docker.io/v1/`,
 * `*.example.com/team`.
 */
export type DockerConfig = Readonly<Record<string, RegistryCredential>>;

/**
 * Returns the credentials in a `config.json`, the entries of `auths`; none without that field.
 *
 * Errors: throws an Error that begins with `source` and names the field.
 * Source: pkg/credentialprovider/config.go
 */
export const parseDockerConfigJson = (text: string, source: string): DockerConfig => {
  const { auths } = objectAt(parseJson(text, source) ?? {}, source);
  return entriesAt(auths ?? {}, `${source}: auths`, 'auths');
};

/**
 * Returns the credentials in a `.dockercfg`, the older format, which consists of the entries of `auths`.
 *
 * Errors: throws an Error that begins with `source` and names the field.
 */
export const parseDockercfg = (text: string, source: string): DockerConfig =>
  entriesAt(parseJson(text, source) ?? {}, source, '');

const parseJson = (text: string, source: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a password.
    throw new Error(`${source}: is not JSON`);
  }
};

const entriesAt = (value: unknown, place: string, field: string): DockerConfig => {
  const source = field === '' ? place : place.slice(0, -`: ${field}`.length);
  const entries = Object.entries(objectAt(value, place)).map(([registry, entry]): [string, RegistryCredential] => [
    registry,
    credentialAt(entry ?? {}, `${source}: ${field}[${JSON.stringify(registry)}]`),
  ]);
  return Object.fromEntries(entries);
};

const credentialAt = (value: unknown, place: string): RegistryCredential => {
  const entry = objectAt(value, place);
  const [username, password, auth, identityToken] = ['username', 'password', 'auth', 'identitytoken'].map((field) =>
    textAt(entry[field], `${place}.${field}`),
  );
  const token = identityToken ? { identityToken } : {};
  if (!auth) return { username: username ?? '', password: password ?? '', ...token };
  return { ...decodeAuth(auth, `${place}.auth`), ...token };
};

/** Decodes base64 of `user:password`, padded or not; a password may contain colons. */
const decodeAuth = (auth: string, place: string): RegistryCredential => {
  const text = auth.replace(/[\r\n]/g, '');
  const isBase64 =
    /^[A-Za-z0-9+/]*={0,2}$/.test(text) && (text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1);
  if (!isBase64) throw new Error(`${place}: is not base64`);
  const decoded = Buffer.from(text, 'base64').toString();
  const colon = decoded.indexOf(':');
  if (colon < 0) throw new Error(`${place}: holds no colon (expected base64 of username:password)`);
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
};

const objectAt = (value: unknown, place: string): Readonly<Record<string, unknown>> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`${place}: is not an object`);
};

const textAt = (value: unknown, place: string): string | undefined => {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw new Error(`${place}: is not a string`);
};

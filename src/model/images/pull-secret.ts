import { type DockerConfig, parseDockerConfigJson, parseDockercfg, type RegistryCredential } from './docker-config.js';
import { credentialsFor } from './keyring.js';

/** A secret of the Kubernetes API that a pod names under `imagePullSecrets`. */
export interface PullSecret {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** `kubernetes.io/dockerconfigjson` or `kubernetes.io/dockercfg`; a secret of any other type holds no credentials. */
  readonly type: string;
  /** Decoded, by key. */
  readonly data: Readonly<Record<string, string>>;
}

/** A credential and its origin: the node, or a secret. */
export interface PullCredential extends RegistryCredential {
  readonly secret?: { readonly uid: string; readonly namespace: string; readonly name: string };
}

/** The names under `imagePullSecrets`, without empty ones, which the API accepts. */
export const pullSecretNames = (references: readonly { readonly name?: string }[] = []): readonly string[] =>
  references.flatMap(({ name }) => (name ? [name] : []));

/** The names under `imagePullSecrets` that are not among `found`. */
export const missingSecrets = (
  references: Parameters<typeof pullSecretNames>[0],
  found: readonly Pick<PullSecret, 'name'>[],
): readonly string[] => {
  const names = new Set(found.map(({ name }) => name));
  return pullSecretNames(references).filter((wanted) => !names.has(wanted));
};

/**
 * Returns the credentials in `secrets` for a repository, those of the most specific registry first.
 *
 * Errors: throws an Error that names the secret and the invalid field.
 * Source: pkg/credentialprovider/secrets/secrets.go MakeDockerKeyring
 */
export const credentialsIn = (secrets: readonly PullSecret[], repository: string): readonly PullCredential[] =>
  credentialsFor(secrets.flatMap(entriesOf), repository);

const entriesOf = (secret: PullSecret): readonly (readonly [string, PullCredential])[] => {
  const { uid, namespace, name } = secret;
  return Object.entries(configOf(secret)).map(([registry, credential]) => [
    registry,
    { ...credential, secret: { uid, namespace, name } },
  ]);
};

const configOf = ({ namespace, name, type, data }: PullSecret): DockerConfig => {
  const [json, cfg] = [data['.dockerconfigjson'], data['.dockercfg']];
  const source = (key: string): string => `secret ${namespace}/${name}: ${key}`;
  if (type === 'kubernetes.io/dockerconfigjson' && json)
    return parseDockerConfigJson(json, source('.dockerconfigjson'));
  if (type === 'kubernetes.io/dockercfg' && cfg) return parseDockercfg(cfg, source('.dockercfg'));
  return {};
};

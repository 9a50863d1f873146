import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { type FieldPath, formatFieldPath } from '../model/manifest/field-issue.js';
import { type ManifestDocument, parseDocuments } from '../model/manifest/manifest-documents.js';
import type { ApiIdentity, IdentityUser, ExecPlugin } from './api-identity.js';
import { type Problem, readable, readAuthority, readPair } from './kubeconfig-pem.js';

const text = z.string();
const named = z.object({ name: text.optional(), value: text.optional() });
const nullish = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();

/** The fields of a kubeconfig that the agent reads; others are ignored. */
const shape = z.object({
  apiVersion: z.literal('v1', 'expected "v1"').optional(),
  kind: z.literal('Config', 'expected "Config"').optional(),
  'current-context': nullish(text),
  contexts: nullish(
    z.array(z.object({ name: text, context: nullish(z.object({ cluster: nullish(text), user: nullish(text) })) })),
  ),
  clusters: nullish(
    z.array(
      z.object({
        name: text,
        cluster: nullish(
          z.object({
            server: nullish(text),
            'certificate-authority': nullish(text),
            'certificate-authority-data': nullish(text),
            'insecure-skip-tls-verify': nullish(z.boolean()),
            'tls-server-name': nullish(text),
            'proxy-url': nullish(text),
            extensions: nullish(z.array(z.object({ name: text, extension: z.unknown().optional() }))),
          }),
        ),
      }),
    ),
  ),
  users: nullish(
    z.array(
      z.object({
        name: text,
        user: nullish(
          z.object({
            'client-certificate': nullish(text),
            'client-certificate-data': nullish(text),
            'client-key': nullish(text),
            'client-key-data': nullish(text),
            token: nullish(text),
            tokenFile: nullish(text),
            username: nullish(text),
            password: nullish(text),
            as: nullish(text),
            'as-uid': nullish(text),
            'as-groups': nullish(z.array(text)),
            'as-user-extra': nullish(z.record(text, z.array(text))),
            'auth-provider': z.unknown().optional(),
            exec: nullish(
              z.object({
                apiVersion: nullish(text),
                command: nullish(text),
                args: nullish(z.array(text)),
                env: nullish(z.array(named)),
                installHint: nullish(text),
                interactiveMode: nullish(text),
                provideClusterInfo: nullish(z.boolean()),
              }),
            ),
          }),
        ),
      }),
    ),
  ),
});
type Shape = z.infer<typeof shape>;
type Cluster = NonNullable<NonNullable<Shape['clusters']>[number]['cluster']>;
type User = NonNullable<NonNullable<Shape['users']>[number]['user']>;
type Exec = NonNullable<User['exec']>;

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * Reads a kubeconfig: the cluster and the user of its current context. Paths in it are relative to its folder.
 *
 * Errors: `invalid kubeconfig: <file>:<line>:<column>: <field>: <what was expected>`, with all problems.
 * Source: staging/src/k8s.io/client-go/tools/clientcmd/validation.go, client_config.go, loader.go
 */
export const readKubeconfig = (path: string): ApiIdentity => {
  try {
    return parseKubeconfig(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof InvalidKubeconfig) throw error;
    throw new InvalidKubeconfig([(error as Error).message], error);
  }
};

/** As `readKubeconfig`, for a text; `path` is the path of its file, for messages and relative paths. */
export const parseKubeconfig = (content: string, path: string): ApiIdentity => {
  const [document, second] = parseDocuments(content);
  if (!document) throw new InvalidKubeconfig([`${path}: is empty, expected a Config`]);
  if (second) throw new InvalidKubeconfig([`${path}: holds several documents, expected one Config`]);
  if (document.errors.length > 0) {
    throw new InvalidKubeconfig(
      document.errors.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
    );
  }
  return identityIn(document.value, dirname(resolve(path)), placeIn(document, path));
};

/**
 * As `readKubeconfig`, of what a kubeconfig holds. `folder` is what its files are relative to; `place` says of a problem where in the
 * kubeconfig it is.
 */
export const identityIn = (value: unknown, folder: string, place: PlaceOf): ApiIdentity => {
  const parsed = shape.safeParse(value);
  if (!parsed.success) {
    throw new InvalidKubeconfig(
      parsed.error.issues.map(({ path: field, message }) =>
        place(field as FieldPath, lowerFirst(message.replace(/^Invalid input: /, ''))),
      ),
    );
  }
  const problems: string[] = [];
  const problem: Problem = (field, message) => problems.push(place(field, message));
  const identity = currentIdentity(parsed.data, folder, problem);
  if (problems.length > 0 || !identity) throw new InvalidKubeconfig(problems);
  return identity;
};

/** A kubeconfig cannot be used. The message names the file, the place, the field and what was expected. */
class InvalidKubeconfig extends Error {
  override readonly name = 'InvalidKubeconfig';
  constructor(problems: readonly string[], cause?: unknown) {
    super(`invalid kubeconfig: ${problems.join('; ')}`, { cause });
  }
}

type PlaceOf = (path: FieldPath, message: string) => string;

const placeIn =
  ({ locate }: ManifestDocument, file: string): PlaceOf =>
  (path, message) => {
    const { line, column } = locate({ path });
    return `${file}:${line}:${column}: ${path.length === 0 ? '' : `${formatFieldPath(path)}: `}${message}`;
  };

const currentIdentity = (config: Shape, folder: string, problem: Problem): ApiIdentity | undefined => {
  const current = config['current-context'] ?? '';
  if (current === '') return void problem(['current-context'], 'expected the name of a context');
  const context = find(config.contexts, current);
  if (!context) return void problem(['current-context'], `there is no context ${JSON.stringify(current)}`);
  const at = ['contexts', context.index, 'context'];
  const { cluster: clusterName, user: userName } = context.entry.context ?? {};
  const cluster = findNamed(config.clusters, clusterName, [...at, 'cluster'], 'cluster', problem);
  const user = findNamed(config.users, userName, [...at, 'user'], 'user', problem);
  if (!cluster || !user) return undefined;
  const server = readCluster(
    cluster.entry.cluster ?? {},
    user.entry.user ?? {},
    ['clusters', cluster.index, 'cluster'],
    folder,
    problem,
  );
  const credentials = readUser(user.entry.user ?? {}, ['users', user.index, 'user'], folder, problem);
  return { ...server, user: withClusterConfig(credentials, cluster.entry.cluster ?? {}) };
};

const find = <Entry extends { readonly name: string }>(
  entries: readonly Entry[] | null | undefined,
  name: string,
): { readonly entry: Entry; readonly index: number } | undefined => {
  const index = entries?.findIndex((entry) => entry.name === name) ?? -1;
  return entries && index >= 0 ? { entry: entries[index]!, index } : undefined;
};

const findNamed = <Entry extends { readonly name: string }>(
  entries: readonly Entry[] | null | undefined,
  name: string | null | undefined,
  field: FieldPath,
  what: string,
  problem: Problem,
) => {
  if (!name) return void problem(field, `expected the name of a ${what}`);
  const found = find(entries, name);
  if (!found) problem(field, `there is no ${what} ${JSON.stringify(name)}`);
  return found;
};

const readCluster = (
  cluster: Cluster,
  user: User,
  at: FieldPath,
  folder: string,
  problem: Problem,
): Omit<ApiIdentity, 'user'> => {
  const ca = readAuthority(cluster, { at, folder, problem });
  const isInsecure = cluster['insecure-skip-tls-verify'] === true;
  if (ca && isInsecure) {
    problem([...at, 'insecure-skip-tls-verify'], 'must not be true beside a certificate authority');
  }
  const hasTls = ca !== undefined || isInsecure || !!user['client-certificate'] || !!user['client-certificate-data'];
  const server = serverUrl(cluster.server ?? '', hasTls);
  if (server === undefined) {
    problem(
      [...at, 'server'],
      `expected a URL such as "https://10.0.0.1:6443"${cluster.server ? `, found ${JSON.stringify(cluster.server)}` : ''}`,
    );
  }
  const proxyUrl = cluster['proxy-url'] ?? '';
  if (proxyUrl !== '' && !/^(https?|socks5h?):$/.test(protocolOf(proxyUrl))) {
    problem(
      [...at, 'proxy-url'],
      `expected a URL with the scheme http, https or socks5, found ${JSON.stringify(proxyUrl)}`,
    );
  }
  return {
    server: server ?? '',
    ...(ca && { ca }),
    ...(isInsecure && { insecureSkipTlsVerify: true }),
    ...(cluster['tls-server-name'] && { tlsServerName: cluster['tls-server-name'] }),
    ...(proxyUrl !== '' && { proxyUrl }),
  };
};

/** Returns the URL. The default scheme is https if there is a setting of TLS, else http. Source: client-go rest/url_utils.go DefaultServerURL */
const serverUrl = (server: string, hasTls: boolean): string | undefined => {
  if (server === '') return undefined;
  const url = /^[a-z]+:\/\//i.test(server) ? server : `${hasTls ? 'https' : 'http'}://${server}`;
  if (!/^https?:$/.test(protocolOf(url))) return undefined;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, '')}`;
};

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : '');

const readUser = (user: User, at: FieldPath, folder: string, problem: Problem): IdentityUser => {
  const pair = readPair(user, { at, folder, problem });
  if (user['auth-provider'] !== undefined && user['auth-provider'] !== null) {
    problem([...at, 'auth-provider'], 'is not supported, expected exec');
  }
  const isBasic = !!user.username || !!user.password;
  if (user.token && isBasic) problem([...at, 'token'], 'must not be there beside a user name and a password');
  const tokenFile = user.tokenFile ? resolve(folder, user.tokenFile) : undefined;
  if (tokenFile !== undefined && !user.token) readable(tokenFile, [...at, 'tokenFile'], problem);
  const isImpersonating = user['as-uid'] || user['as-groups']?.length || user['as-user-extra'];
  if (isImpersonating && !user.as) problem([...at, 'as'], 'expected the user to impersonate');
  return {
    ...pair,
    ...(user.token && { token: user.token }),
    ...(tokenFile !== undefined && { tokenFile }),
    ...(isBasic && { basic: { username: user.username ?? '', password: user.password ?? '' } }),
    ...(user.exec && { exec: readExec(user.exec, [...at, 'exec'], folder, problem) }),
    ...(user.as && {
      impersonate: {
        user: user.as,
        uid: user['as-uid'] ?? '',
        groups: user['as-groups'] ?? [],
        extra: user['as-user-extra'] ?? {},
      },
    }),
  };
};

const readExec = (exec: Exec, at: FieldPath, folder: string, problem: Problem): ExecPlugin => {
  const { apiVersion, command } = exec;
  // Only the older version has a default.
  const isOld = apiVersion === EXEC_VERSIONS[1];
  const interactiveMode = exec.interactiveMode ?? (isOld ? 'IfAvailable' : '');
  if (!command) problem([...at, 'command'], 'expected the program to run');
  if (!EXEC_VERSIONS.includes(apiVersion ?? '')) {
    problem([...at, 'apiVersion'], `expected ${EXEC_VERSIONS.map((version) => JSON.stringify(version)).join(' or ')}`);
  }
  if (!INTERACTIVE_MODES.includes(interactiveMode)) {
    problem([...at, 'interactiveMode'], 'expected Never, IfAvailable or Always');
  } else if (interactiveMode === 'Always') {
    problem([...at, 'interactiveMode'], 'must not be Always: an agent has no terminal');
  }
  exec.env?.forEach(({ name }, index) => {
    if (!name) problem([...at, 'env', index, 'name'], 'expected the name of a variable');
  });
  return {
    apiVersion: apiVersion ?? '',
    // A name without a slash is looked up in PATH.
    command: command?.includes('/') ? resolve(folder, command) : (command ?? ''),
    args: exec.args ?? [],
    env: Object.fromEntries(exec.env?.map(({ name = '', value = '' }) => [name, value]) ?? []),
    installHint: exec.installHint ?? '',
    provideClusterInfo: exec.provideClusterInfo ?? false,
  };
};

/** Adds the configuration of the cluster for programs for credentials. */
const withClusterConfig = (user: IdentityUser, { extensions }: Cluster): IdentityUser => {
  const config = extensions?.find(({ name }) => name === EXEC_EXTENSION)?.extension;
  return user.exec && config !== undefined ? { ...user, exec: { ...user.exec, clusterConfig: config } } : user;
};

const lowerFirst = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1);

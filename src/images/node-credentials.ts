import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { defer, from, map, type SchedulerLike } from 'rxjs';
import { errorText } from '../model/cri-error.js';
import { type DockerConfig, parseDockerConfigJson, parseDockercfg } from '../model/images/docker-config.js';
import { credentialsFor } from '../model/images/keyring.js';
import { reuseFor } from '../streams/operators/reuse-for.js';
import type { CredentialPorts, Logger } from '../streams/ports.js';

/** Source: pkg/credentialprovider/provider.go NewDefaultDockerKeyring */
const KEPT_FOR_MS = 300_000;

/** A file that may hold passwords of registries, and how it is read. */
export interface DockerConfigPlace {
  readonly path: string;
  readonly parse: (text: string, source: string) => DockerConfig;
}

/**
 * Where passwords are looked for: `config.json` in the agent's root directory, the working directory, `.docker` of the home
 * and `/.docker`; then `.dockercfg`, the older form, in the same places without `.docker`.
 *
 * Source: pkg/credentialprovider/config.go DefaultDockerConfigJSONPaths, DefaultDockercfgPaths
 */
export const dockerConfigPlaces = (
  rootDirectory: string | undefined,
  { workingDirectory = process.cwd(), home = homedir() } = {},
): readonly DockerConfigPlace[] => {
  const first = [...(rootDirectory === undefined ? [] : [rootDirectory]), workingDirectory];
  const inEach = (name: string, folders: readonly string[], parse: DockerConfigPlace['parse']) =>
    folders.map((folder) => ({ path: resolve(join(folder, name)), parse }));
  return [
    ...inEach('config.json', [...first, join(home, '.docker'), '/.docker'], parseDockerConfigJson),
    ...inEach('.dockercfg', [...first, home, '/'], parseDockercfg),
  ];
};

/**
 * The passwords of this machine: those in the first of `places` that is there and can be read. They are read when a pull
 * needs them, and again after five minutes. A file that cannot be read is told in the log, by its name and the field that
 * is wrong, and the next one is looked at.
 */
export const nodeCredentials = (
  places: readonly DockerConfigPlace[],
  { log, scheduler }: { readonly log: Pick<Logger, 'warn'>; readonly scheduler: SchedulerLike },
): CredentialPorts['nodeCredentials'] => {
  const config$ = defer(() => from(readFirst(places, log))).pipe(reuseFor(KEPT_FOR_MS, scheduler));
  return (repository) => config$.pipe(map((config) => credentialsFor(Object.entries(config), repository)));
};

const readFirst = async (places: readonly DockerConfigPlace[], log: Pick<Logger, 'warn'>): Promise<DockerConfig> => {
  for (const { path, parse } of places) {
    try {
      return parse(await readFile(path, 'utf8'), path);
    } catch (error) {
      if (isAbsence(error)) continue;
      log.warn({ error: errorText(error) }, 'passwords of registries cannot be read');
    }
  }
  return {};
};

const isAbsence = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as Readonly<Partial<NodeJS.ErrnoException>>).code ?? '');

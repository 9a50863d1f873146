import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { defer, from, map, type SchedulerLike } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { isAbsence, isShortage } from '../model/values/file-error.js';
import { type DockerConfig, parseDockerConfigJson, parseDockercfg } from '../model/images/docker-config.js';
import { credentialsFor } from '../model/images/keyring.js';
import { reuseByKey } from '../streams/operators/reuse-by-key.js';
import type { CredentialPorts } from '../streams/ports/credential-ports.js';
import type { Logger } from '../streams/ports/logger.js';

/** Source: pkg/credentialprovider/provider.go NewDefaultDockerKeyring */
export const KEPT_FOR_MS = 300_000;

/** A file that may hold passwords of registries, and the function that parses it. */
export interface DockerConfigPlace {
  readonly path: string;
  readonly parse: (text: string, source: string) => DockerConfig;
}

/**
 * The files that may hold passwords: `config.json` in the root directory of the agent, the working directory, `.docker`
 * of the home and `/.docker`; then `.dockercfg`, the older form, in the same places without `.docker`.
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
 * The registry passwords of this machine, from the first of `places` that can be read. They are read for a pull and
 * kept for five minutes. A file that cannot be read is logged with its name and the wrong field, and the next one is
 * tried.
 *
 * Errors: the machine has no free file descriptors or memory to read a file.
 */
export const nodeCredentials = (
  places: readonly DockerConfigPlace[],
  { log, scheduler }: { readonly log: Pick<Logger, 'warn'>; readonly scheduler: SchedulerLike },
): CredentialPorts['nodeCredentials'] => {
  const reused = reuseByKey<DockerConfig>({ lifetimeMs: () => KEPT_FOR_MS, most: 1, scheduler });
  const config$ = defer(() => from(readFirst(places, log))).pipe(reused('node'));
  return (repository) => config$.pipe(map((config) => credentialsFor(Object.entries(config), repository)));
};

const readFirst = async (places: readonly DockerConfigPlace[], log: Pick<Logger, 'warn'>): Promise<DockerConfig> => {
  for (const { path, parse } of places) {
    try {
      return parse(await readFile(path, 'utf8'), path);
    } catch (error) {
      if (isAbsence(error)) continue;
      // A list without them would be kept, and the pull would fail without a password.
      if (isShortage(error)) throw error;
      log.warn({ error: errorText(error) }, 'cannot read passwords of registries');
    }
  }
  return {};
};

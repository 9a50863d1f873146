import type { Container, EphemeralContainer } from '../pod/pod.js';
import type { EnvFileText } from './env-file.js';

export type FileKeyRef = NonNullable<NonNullable<NonNullable<Container['env']>[number]['valueFrom']>['fileKeyRef']>;

/** An env file of a volume. A file that could not be read has its error as `problem`. */
export interface EnvFile extends EnvFileText {
  /** Its path on the machine. */
  readonly path: string;
}

/** The env files of a container by `envFileId`. */
export type EnvFiles = ReadonlyMap<string, EnvFile>;

/** No files: of a container without references to any, or of an agent that reads none. */
export const NO_ENV_FILES: EnvFiles = new Map();

/** Returns the volume and the path of a file as one text. */
export const envFileId = ({ volumeName, path }: Pick<FileKeyRef, 'volumeName' | 'path'>): string =>
  `${volumeName}/${path}`;

/** Returns the keys of env files in the environment of a container, in order. */
export const fileKeyRefs = ({ env = [] }: Container | EphemeralContainer): readonly FileKeyRef[] =>
  env.flatMap(({ value, valueFrom }) => (!value && valueFrom?.fileKeyRef ? [valueFrom.fileKeyRef] : []));

/** An env file of a volume, with the keys that the container needs of it, in order. */
export interface WantedEnvFile extends Pick<FileKeyRef, 'volumeName' | 'path'> {
  readonly id: string;
  readonly keys: readonly string[];
}

/** Returns the env files to which the environment of a container refers, each once, in the order of their first references. */
export const wantedEnvFiles = (container: Container | EphemeralContainer): readonly WantedEnvFile[] => {
  const files = new Map<string, WantedEnvFile & { readonly keys: string[] }>();
  for (const reference of fileKeyRefs(container)) {
    const { volumeName, path, key } = reference;
    const id = envFileId(reference);
    const known = files.get(id);
    if (known) known.keys.push(key);
    else files.set(id, { id, volumeName, path, keys: [key] });
  }
  return [...files.values()];
};

/** An env file that could not be read. */
export const unreadEnvFile = (path: string, problem: string): EnvFile => ({ path, values: new Map(), problem });

/** Returns the problem of a file that lacks one of these keys; undefined if all of them come before its problem. */
export const problemForKeys = ({ values, problem }: EnvFile, keys: readonly string[]): string | undefined =>
  keys.some((key) => !values.has(key)) ? problem : undefined;

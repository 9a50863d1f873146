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

/** Returns the volume and the path of a file as one text. */
export const envFileId = ({ volumeName, path }: Pick<FileKeyRef, 'volumeName' | 'path'>): string =>
  `${volumeName}/${path}`;

/** Returns the keys of env files in the environment of a container, in order. */
export const fileKeyRefs = ({ env = [] }: Container | EphemeralContainer): readonly FileKeyRef[] =>
  env.flatMap(({ value, valueFrom }) => (!value && valueFrom?.fileKeyRef ? [valueFrom.fileKeyRef] : []));

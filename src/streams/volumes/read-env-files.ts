import { catchError, concatMap, defer, EMPTY, from, map, type Observable, of, reduce, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { parseEnvFile } from '../../model/cri/env-file.js';
import { type EnvFile, envFileId, type EnvFiles, type FileKeyRef, fileKeyRefs } from '../../model/cri/env-files.js';
import { type Container, type EphemeralContainer, type Pod, podRef } from '../../model/pod/pod.js';
import { EMPTY_DIR_PLUGIN } from '../../model/volumes/volume-plugin.js';
import { volumeDirectory } from '../../model/volumes/volume-paths.js';
import type { Logger } from '../ports/logger.js';
import type { VolumeFiles } from '../ports/volume-files.js';

/** Reading a file of this size holds up the agent for less than a tenth of a second. Upstream has no limit. */
const MAX_BYTES = 262_144;

export interface ReadEnvFilesPorts {
  readonly volumeFiles: Pick<VolumeFiles, 'read'>;
  readonly rootDirectory: string;
  /** Whether the volume is set up. */
  readonly isMounted: (volume: string) => boolean;
  readonly log: Logger;
}

/**
 * Emits once the env files to which the environment of a container refers, as they are now. Each is read once, one after the
 * other, so that a container with many of them opens one at a time.
 *
 * Errors: none. A file that cannot be read, or has a problem before a key that the container needs, is logged without its text.
 * Source: pkg/kubelet/kubelet_pods.go makeEnvironmentVariables
 */
export const readEnvFiles = (
  pod: Pod,
  container: Container | EphemeralContainer,
  { volumeFiles, rootDirectory, isMounted, log }: ReadEnvFilesPorts,
): Observable<EnvFiles> =>
  defer(() => {
    const references = fileKeyRefs(container);
    const read = ({ volumeName, path }: FileKeyRef): Observable<EnvFile> => {
      const directory = volumeDirectory(rootDirectory, pod.metadata.uid, EMPTY_DIR_PLUGIN, volumeName);
      const file = `${directory}/${path}`;
      return volumeFiles.read(directory, path, MAX_BYTES).pipe(
        map((content) => ({ path: file, ...parseEnvFile(content) })),
        catchError((error: unknown) =>
          of({ path: file, values: new Map<string, string>(), problem: errorText(error) }),
        ),
      );
    };
    const keysOf = new Map<string, string[]>();
    for (const one of references) {
      const keys = keysOf.get(envFileId(one));
      if (keys) keys.push(one.key);
      else keysOf.set(envFileId(one), [one.key]);
    }
    const complain = (id: string, { values, problem }: EnvFile): void => {
      const isNeeded = keysOf.get(id)?.some((key) => !values.has(key)) ?? false;
      if (problem === undefined || !isNeeded) return;
      log.warn(
        { pod: podRef(pod), container: container.name, file: id, error: problem },
        'an env file could not be read',
      );
    };
    return from(new Map(references.map((reference) => [envFileId(reference), reference]))).pipe(
      concatMap(([id, reference]) =>
        isMounted(reference.volumeName)
          ? read(reference).pipe(
              tap((file) => complain(id, file)),
              map((file) => [id, file] as const),
            )
          : EMPTY,
      ),
      reduce((files, [id, file]) => files.set(id, file), new Map<string, EnvFile>()),
    );
  });

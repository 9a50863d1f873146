import { catchError, concatMap, defer, EMPTY, from, map, type Observable, of, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { parseEnvFile } from '../../model/cri/env-file.js';
import {
  type EnvFile,
  type EnvFiles,
  problemForKeys,
  unreadEnvFile,
  type WantedEnvFile,
  wantedEnvFiles,
} from '../../model/cri/env-files.js';
import { type Container, type EphemeralContainer, type Pod, podRef } from '../../model/pod/pod.js';
import { EMPTY_DIR_PLUGIN } from '../../model/volumes/volume-plugin.js';
import { volumeDirectory } from '../../model/volumes/volume-paths.js';
import { toMap } from '../operators/to-map.js';
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
    const read = ({ volumeName, path }: WantedEnvFile): Observable<EnvFile> => {
      const directory = volumeDirectory(rootDirectory, pod.metadata.uid, EMPTY_DIR_PLUGIN, volumeName);
      const file = `${directory}/${path}`;
      return volumeFiles.read(directory, path, MAX_BYTES).pipe(
        map((content) => ({ path: file, ...parseEnvFile(content) })),
        catchError((error: unknown) => of(unreadEnvFile(file, errorText(error)))),
      );
    };
    const complain = ({ id, keys }: WantedEnvFile, file: EnvFile): void => {
      const problem = problemForKeys(file, keys);
      if (problem === undefined) return;
      log.warn(
        { pod: podRef(pod), container: container.name, file: id, error: problem },
        'an env file could not be read',
      );
    };
    return from(wantedEnvFiles(container)).pipe(
      concatMap((wanted) =>
        isMounted(wanted.volumeName)
          ? read(wanted).pipe(
              tap((file) => complain(wanted, file)),
              map((file) => [wanted.id, file] as const),
            )
          : EMPTY,
      ),
      toMap(),
    );
  });

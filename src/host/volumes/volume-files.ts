import { defer, from, ignoreElements, type Observable } from 'rxjs';
import type { VolumeFiles } from '../../streams/ports/volume-files.js';
import { writeAtomically } from './atomic-writer.js';
import { fileCalls } from './file-calls.js';
import { foundVolumes } from './found-volumes.js';
import { checkHostPath } from './host-path.js';
import { makeMountPoint } from './mount-point.js';
import { readInside } from './read-inside.js';
import { setUp } from './set-up.js';
import { bindSubPath, unbindSubPaths } from './sub-path.js';
import { tearDown } from './tear-down.js';

export interface VolumeFilesOptions {
  /** Runs before each call to the kernel; its error ends the work there. */
  readonly beforeCall?: (call: string) => void;
}

/** The `VolumeFiles` port for this machine. It needs the commands `mount` and `umount`, and root for mounts. */
export const volumeFiles = ({ beforeCall }: VolumeFilesOptions = {}): VolumeFiles => {
  const calls = fileCalls(beforeCall);
  const writer = { calls, now: Date.now, random: Math.random };
  return {
    setUp: (setup) => defer(() => from(setUp(calls, setup))),
    write: (...volume) => defer(() => from(writeAtomically(writer, ...volume))),
    checkHostPath: (path, type) => act(() => checkHostPath(calls, path, type)),
    read: (directory, path, maxBytes) => defer(() => from(readInside(calls, directory, path, maxBytes))),
    bindSubPath: (setup) => act(() => bindSubPath(calls, setup)),
    makeMountPoint: (setup) => act(() => makeMountPoint(calls, setup)),
    unbindSubPaths: (directory) => act(() => unbindSubPaths(calls, directory)),
    tearDown: (setup) => act(() => tearDown(calls, setup)),
    found: (podDirectory) => defer(() => from(foundVolumes(calls, podDirectory))),
  };
};

const act = (run: () => Promise<void>): Observable<never> => defer(() => from(run())).pipe(ignoreElements());

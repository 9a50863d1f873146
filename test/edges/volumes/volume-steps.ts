import { join } from 'node:path';
import { concat, type Observable } from 'rxjs';
import type { VolumePayload } from '../../../src/model/volumes/volume-payload.js';
import type { VolumeSetup } from '../../../src/model/volumes/volume-setup.js';
import type { VolumeFiles } from '../../../src/streams/ports/volume-files.js';

export const STEPS = ['mount', 'update', 'unmount'] as const;
export type Step = (typeof STEPS)[number];

/** A volume with files, one of which a container mounts as a sub-path, and with the mount point of another volume. */
export interface SteppedVolume {
  readonly root: string;
  readonly isInMemory: boolean;
  readonly hasGroup: boolean;
  readonly paths: readonly string[];
  /** The content of each file. */
  readonly content: string;
}

export const setupOf = ({ root, isInMemory, hasGroup }: SteppedVolume): VolumeSetup => ({
  directory: join(root, 'volumes', 'v'),
  markerDirectory: join(root, 'markers', 'v'),
  ...(isInMemory && { mount: { type: 'tmpfs', source: 'tmpfs', options: ['size=1m'] } }),
  ...(hasGroup && { ownership: { fsGroup: 77, readOnly: true } }),
  nested: ['nested/deep'],
});

const payloadOf = ({ paths, content }: SteppedVolume): VolumePayload =>
  new Map(paths.map((path) => [path, { data: Buffer.from(content), mode: 0o644 }]));

const subPathsOf = ({ root }: SteppedVolume): string => join(root, 'volume-subpaths', 'v');
export const targetOf = (volume: SteppedVolume): string => join(subPathsOf(volume), 'c', '0');

/** Everything that is done to the disk in one step of a volume, in order. */
export const takeStep = (files: VolumeFiles, step: Step, volume: SteppedVolume): Observable<unknown> => {
  const setup = setupOf(volume);
  if (step === 'unmount') return concat(files.unbindSubPaths(subPathsOf(volume)), files.tearDown(setup));
  const { directory } = setup;
  const write$ = concat(files.setUp(setup), files.write(directory, payloadOf(volume), setup.ownership, setup.nested));
  if (step === 'update') return write$;
  const [subPath = ''] = volume.paths;
  return concat(
    write$,
    files.bindSubPath({ volumeDirectory: directory, subPath, target: targetOf(volume) }),
    files.makeMountPoint({ directory, path: 'nested/deep' }),
  );
};

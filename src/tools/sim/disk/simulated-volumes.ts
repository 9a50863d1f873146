import type { VolumePayload } from '../../../model/volumes/volume-payload.js';
import type { MountPointSetup, SubPathSetup, VolumeSetup } from '../../../model/volumes/volume-setup.js';
import { unescapedPlugin } from '../../../model/volumes/volume-paths.js';
import type { FoundVolume } from '../../../streams/ports/volume-files.js';
import type { FileTree } from './file-tree.js';

/** The volumes on the disk of a simulated node: directories of its file tree, and what is mounted on them. */
export class SimulatedVolumes {
  readonly #mounts = new Set<string>();

  readonly #there = new Set<string>();

  /** `changed` is called for each directory that containers can mount, when it is there and when it is gone. */
  constructor(
    private readonly tree: FileTree,
    private readonly changed: (kind: 'volume-made' | 'volume-gone', path: string) => void,
  ) {}

  setUp({ directory, markerDirectory, mount }: VolumeSetup): 'made' | 'there' {
    const isThere = this.tree.leadsSomewhere(`${markerDirectory}/ready`) && this.#there.has(directory);
    this.tree.makeDirectory(directory);
    if (mount) this.#mounts.add(directory);
    this.tree.makeDirectory(markerDirectory);
    this.tree.write(`${markerDirectory}/ready`, '');
    this.#made(directory);
    return isThere ? 'there' : 'made';
  }

  write(directory: string, payload: VolumePayload): 'changed' | 'unchanged' {
    // The node writes the whole of a volume in one step, so one file stands for all of them.
    const text = JSON.stringify([...payload].map(([path, { data }]) => [path, new TextDecoder().decode(data)]).sort());
    const path = `${directory}/..data`;
    if (this.tree.leadsSomewhere(path) && this.tree.read(path) === text) return 'unchanged';
    this.tree.write(path, text);
    return 'changed';
  }

  bindSubPath({ volumeDirectory, subPath, target }: SubPathSetup): void {
    this.tree.makeDirectory(`${volumeDirectory}/${subPath}`);
    this.tree.makeDirectory(target);
    this.#mounts.add(target);
    this.#made(target);
  }

  makeMountPoint({ directory, path }: MountPointSetup): void {
    this.tree.makeDirectory(`${directory}/${path}`);
  }

  unbindSubPaths(directory: string): void {
    for (const path of this.mountsBelow(directory)) {
      this.#mounts.delete(path);
      this.#gone(path);
    }
    this.tree.remove(directory);
  }

  tearDown({ directory, markerDirectory }: Pick<VolumeSetup, 'directory' | 'markerDirectory'>): void {
    this.tree.remove(markerDirectory);
    this.#mounts.delete(directory);
    this.tree.remove(directory);
    this.#gone(directory);
  }

  found(podDirectory: string): readonly FoundVolume[] {
    const volumes = this.tree
      .list(`${podDirectory}/volumes`)
      .flatMap((plugin) =>
        this.tree.list(`${podDirectory}/volumes/${plugin}`).map((name) => ({ plugin: unescapedPlugin(plugin), name })),
      );
    const names = new Set(volumes.map(({ name }) => name));
    const subPaths = this.tree.list(`${podDirectory}/volume-subpaths`).filter((name) => !names.has(name));
    return [...volumes, ...subPaths.map((name) => ({ name }))];
  }

  /** A boot leaves no mount: the contents of those in memory are gone, and their directories are empty. The tree is that of after the boot. */
  unmountAll(): void {
    for (const path of this.#mounts) {
      this.tree.remove(path);
      this.tree.makeDirectory(path);
      this.#gone(path);
    }
    this.#mounts.clear();
    // A directory that was made a moment before is lost.
    for (const path of this.#there) if (!this.tree.leadsSomewhere(path)) this.#gone(path);
  }

  /** Mount points at or below the directory. */
  mountsBelow(directory: string): readonly string[] {
    return [...this.#mounts].filter((path) => path === directory || path.startsWith(`${directory}/`)).sort();
  }

  #made(path: string): void {
    if (this.#there.has(path)) return;
    this.#there.add(path);
    this.changed('volume-made', path);
  }

  #gone(path: string): void {
    if (this.#there.delete(path)) this.changed('volume-gone', path);
  }
}

interface Directory {
  readonly kind: 'directory';
  readonly entries: Map<string, Entry>;
}
interface Link {
  readonly kind: 'link';
  readonly target: string;
}
/** A file grows while a process writes a log into it. */
interface File {
  readonly kind: 'file';
  text: string;
  /** The bytes after the text that count, but have no content. */
  moreBytes: number;
  growth?: { readonly bytesPerSecond: number; readonly sinceMs: number } | undefined;
}
type Entry = Directory | Link | File;

/** The result of resolving a path: an entry, or the place of a new one. */
interface Place {
  readonly parent: Directory;
  readonly name: string;
  readonly entry: Entry | undefined;
}

const MEANINGS = {
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EISDIR: 'illegal operation on a directory',
  ELOOP: 'too many symbolic links encountered',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  ERR_FS_EISDIR: 'path is a directory',
} as const;
type Code = keyof typeof MEANINGS;

const MOST_LINKS = 40;
const DIRECTORY_BYTES = 4096;

/**
 * Files, directories and symbolic links by absolute paths, with the behaviour of Node's file system.
 *
 * Errors: those of Node, with their `code`, the call and the path.
 */
export class FileTree {
  #root: Directory = newDirectory();
  /** The growing logs, by the path under which they were opened: a file may have another name by now. */
  readonly #open = new Map<string, File>();

  /** Milliseconds of a clock that never jumps. */
  constructor(private readonly nowMs: () => number) {}

  /** The same files. Logs are closed in it. */
  copy(): FileTree {
    const copy = new FileTree(this.nowMs);
    copy.#root = this.#copyOf(this.#root);
    return copy;
  }

  /** Has the files of another tree from now on, which is not used any more. */
  become(other: FileTree): void {
    this.#root = other.#root;
    this.#open.clear();
  }

  #copyOf(directory: Directory): Directory {
    const copyOf = (entry: Entry): Entry => {
      if (entry.kind === 'directory') return this.#copyOf(entry);
      if (entry.kind === 'link') return entry;
      return { kind: 'file', text: entry.text, moreBytes: this.#bytesOf(entry) - entry.text.length };
    };
    return {
      kind: 'directory',
      entries: new Map([...directory.entries].map(([name, entry]) => [name, copyOf(entry)])),
    };
  }

  /** Only an entry that certainly does not exist resolves to nothing. */
  leadsSomewhere(path: string): boolean {
    try {
      return this.#find('access', path).entry !== undefined;
    } catch (error) {
      return !isMissing(error);
    }
  }

  /** Creates a directory with its parents; an existing one is fine. */
  makeDirectory(path: string): void {
    this.#makeDirectory(path, 'EEXIST');
  }

  #makeDirectory(path: string, ifInTheWay: 'EEXIST' | 'ENOTDIR'): void {
    const { parent, name, entry } = this.#makeParents('mkdir', path);
    if (name === '' || entry?.kind === 'directory') return;
    if (entry && this.#isDirectory(path)) return;
    if (entry) throw problem(ifInTheWay, 'mkdir', path);
    parent.entries.set(name, newDirectory());
  }

  /** Names; none without the directory. */
  list(path: string): readonly string[] {
    return [...this.#entries(path).keys()].sort();
  }

  /** Removes a directory with its contents; a missing one is fine. */
  remove(path: string): void {
    const { parent, name } = this.#find('rm', path, 'itself', 'nothing if missing') ?? {};
    if (name !== undefined) parent?.entries.delete(name);
  }

  /** Removes a file; a missing one is fine. */
  removeFile(path: string): void {
    const place = this.#find('rm', path, 'itself', 'nothing if missing');
    if (place?.entry?.kind === 'directory') throw problem('ERR_FS_EISDIR', 'rm', path);
    place?.parent.entries.delete(place.name);
  }

  write(path: string, text: string): void {
    const { parent, name, entry } = this.#find('open', path);
    if (entry?.kind === 'directory') throw problem('EISDIR', 'open', path);
    if (entry?.kind === 'file') Object.assign(entry, { text, moreBytes: 0 });
    else parent.entries.set(name, { kind: 'file', text, moreBytes: 0 });
  }

  read(path: string): string {
    const { entry } = this.#find('open', path);
    if (entry?.kind === 'directory') throw problem('EISDIR', 'read', path);
    if (entry?.kind !== 'file') throw problem('ENOENT', 'open', path);
    return entry.text;
  }

  /** The bytes of a log without content are left out. */
  tail(path: string, maxBytes: number): Uint8Array | undefined {
    const file = this.#findOrNothing('open', path)?.entry;
    if (!file) return undefined;
    if (file.kind !== 'file') throw new Error(`${path} is not a regular file`);
    const bytes = new TextEncoder().encode(file.text);
    return bytes.slice(Math.max(0, bytes.length - maxBytes));
  }

  size(path: string): bigint | undefined {
    const entry = this.#findOrNothing('stat', path)?.entry;
    return entry && BigInt(this.#bytesOf(entry));
  }

  /** Creates the folder of the file. */
  link(target: string, path: string): void {
    this.makeDirectory(parentOf(path));
    const { parent, name, entry } = this.#find('symlink', path, 'itself');
    if (entry) throw problem('EEXIST', 'symlink', path);
    parent.entries.set(name, { kind: 'link', target });
  }

  danglingLinks(directory: string): readonly string[] {
    return [...this.#entries(directory)].flatMap(([name, { kind }]) =>
      kind === 'link' && !this.leadsSomewhere(`${directory}/${name}`) ? [name] : [],
    );
  }

  rename(from: string, to: string): void {
    const source = this.#find('rename', from, 'itself');
    const target = this.#find('rename', to, 'itself');
    if (!source.entry) throw problem('ENOENT', 'rename', from);
    if (target.entry === source.entry) return;
    if (source.entry.kind === 'directory') {
      if (isWithin(source.entry, target.parent)) throw problem('EINVAL', 'rename', from);
      if (target.entry && target.entry.kind !== 'directory') throw problem('ENOTDIR', 'rename', from);
    }
    if (target.entry?.kind === 'directory') {
      if (isWithin(target.entry, source.parent)) throw problem('ENOTEMPTY', 'rename', from);
      if (source.entry.kind !== 'directory') throw problem('EISDIR', 'rename', from);
      if (target.entry.entries.size > 0) throw problem('ENOTEMPTY', 'rename', from);
    }
    source.parent.entries.delete(source.name);
    target.parent.entries.set(target.name, source.entry);
  }

  /** Replaces it by `<path>.gz`, a tenth as long. */
  compress(path: string): void {
    const { parent, name, entry } = this.#find('stat', path);
    if (!entry) throw problem('ENOENT', 'stat', path);
    const moreBytes = Math.ceil(this.#bytesOf(entry) / 10);
    parent.entries.delete(name);
    parent.entries.set(`${name}.gz`, { kind: 'file', text: '', moreBytes });
  }

  /**
   * Creates a log that grows from now on, with its folder. A log that was opened under this path before stops growing.
   */
  openLog(path: string, bytesPerSecond: number): void {
    this.closeLog(path);
    const { parent, name, entry } = this.#makeParents('open', path);
    const file: File = entry?.kind === 'file' ? entry : { kind: 'file', text: '', moreBytes: 0 };
    parent.entries.set(name, file);
    file.growth = { bytesPerSecond, sinceMs: this.nowMs() };
    this.#open.set(path, file);
  }

  closeLog(path: string): void {
    const file = this.#open.get(path);
    if (!file) return;
    file.moreBytes = this.#bytesOf(file) - file.text.length;
    file.growth = undefined;
    this.#open.delete(path);
  }

  paths(): readonly string[] {
    return [...pathsBelow('', this.#root)].sort();
  }

  /** The bytes of all files together. */
  bytes(): bigint {
    let sum = 0;
    const add = ({ entries }: Directory): void => {
      for (const entry of entries.values()) {
        if (entry.kind === 'directory') add(entry);
        else sum += this.#bytesOf(entry);
      }
    };
    add(this.#root);
    return BigInt(sum);
  }

  #bytesOf(entry: Entry): number {
    if (entry.kind === 'directory') return DIRECTORY_BYTES;
    if (entry.kind === 'link') return entry.target.length;
    const { text, moreBytes, growth } = entry;
    const grown = growth ? Math.floor((growth.bytesPerSecond * (this.nowMs() - growth.sinceMs)) / 1000) : 0;
    return text.length + moreBytes + grown;
  }

  #entries(path: string): ReadonlyMap<string, Entry> {
    const entry = this.#findOrNothing('scandir', path)?.entry;
    return entry?.kind === 'directory' ? entry.entries : new Map<string, Entry>();
  }

  #isDirectory(path: string): boolean {
    return this.#findOrNothing('stat', path)?.entry?.kind === 'directory';
  }

  #makeParents(call: string, path: string): Place {
    const parent = parentOf(path);
    if (parent !== '/') this.#makeDirectory(parent, 'ENOTDIR');
    return this.#find(call, path, 'itself');
  }

  #findOrNothing(call: string, path: string): Place | undefined {
    try {
      return this.#find(call, path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Errors: ENOENT and ENOTDIR for a missing or invalid parent; the last part may be missing. */
  #find(call: string, path: string, last?: 'itself' | 'where it leads'): Place;
  #find(call: string, path: string, last: 'itself', missing: 'nothing if missing'): Place | undefined;
  #find(call: string, path: string, last = 'where it leads', missing?: string): Place | undefined {
    const names = path.split('/').filter((name) => name !== '');
    let links = 0;
    let trail: Directory[] = [this.#root];
    let place: Place = { parent: this.#root, name: '', entry: this.#root };
    while (names.length > 0) {
      const name = names.shift()!;
      const parent = trail.at(-1)!;
      const entry = parent.entries.get(name);
      place = { parent, name, entry };
      const isLast = names.length === 0;
      if (entry?.kind === 'link' && (!isLast || last === 'where it leads')) {
        if (++links > MOST_LINKS) throw problem('ELOOP', call, path);
        names.unshift(...entry.target.split('/').filter((part) => part !== ''));
        trail = [this.#root];
        continue;
      }
      if (isLast) break;
      if (!entry && missing) return undefined;
      if (!entry) throw problem('ENOENT', call, path);
      if (entry.kind !== 'directory') throw problem('ENOTDIR', call, path);
      trail.push(entry);
    }
    return place;
  }
}

const newDirectory = (): Directory => ({ kind: 'directory', entries: new Map() });

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';

/** Whether the path is the directory, or below it. */
const isWithin = (directory: Directory, wanted: Directory): boolean =>
  directory === wanted ||
  [...directory.entries.values()].some((entry) => entry.kind === 'directory' && isWithin(entry, wanted));

function* pathsBelow(prefix: string, { entries }: Directory): Generator<string> {
  for (const [name, entry] of entries) {
    yield `${prefix}/${name}`;
    if (entry.kind === 'directory') yield* pathsBelow(`${prefix}/${name}`, entry);
  }
}

const problem = (code: Code, call: string, path: string): Error =>
  Object.assign(new Error(`${code}: ${MEANINGS[code]}, ${call} '${path}'`), { code });

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** A file grows while somebody writes a log into it. */
interface File {
  text: string;
  /** Bytes besides the text that were never written down. */
  extraBytes: number;
  growth?: { readonly bytesPerSecond: number; readonly sinceMs: number } | undefined;
}
interface Link {
  readonly target: string;
}

/** Files, links and directories by their paths; a directory is there as soon as something is in it. */
export class FileTree {
  readonly #files = new Map<string, File | Link>();
  /** Names in each directory. */
  readonly #directories = new Map<string, Set<string>>([['/', new Set()]]);

  /** Milliseconds of a clock that never jumps. */
  constructor(private readonly nowMs: () => number) {}

  has(path: string): boolean {
    const file = this.#files.get(path);
    if (file && 'target' in file) return this.has(file.target);
    return file !== undefined || this.#directories.has(path);
  }

  makeDirectory(path: string): void {
    if (this.#files.has(path)) throw problem('EEXIST', 'file already exists', 'mkdir', path);
    if (this.#directories.has(path)) return;
    const { parent, name } = split(path);
    this.makeDirectory(parent);
    this.#directories.set(path, new Set());
    this.#directories.get(parent)!.add(name);
  }

  list(path: string): readonly string[] {
    return [...(this.#directories.get(path) ?? [])].sort();
  }

  /** Everything below goes, too. */
  remove(path: string): void {
    for (const name of [...(this.#directories.get(path) ?? [])]) this.remove(`${path}/${name}`);
    this.#directories.delete(path);
    this.#files.delete(path);
    const { parent, name } = split(path);
    this.#directories.get(parent)?.delete(name);
  }

  write(path: string, text: string): void {
    const file = this.#file(path);
    if (file) Object.assign(file, { text, extraBytes: 0 });
    else this.#put(path, { text, extraBytes: 0 });
  }

  read(path: string): string {
    const file = this.#file(path);
    if (!file) throw problem('ENOENT', 'no such file or directory', 'open', path);
    return file.text;
  }

  /** Of a log, what was said and never written down is left out. */
  tail(path: string, maxBytes: number): Uint8Array | undefined {
    const file = this.#file(path);
    return file && new TextEncoder().encode(file.text).slice(-maxBytes);
  }

  size(path: string): bigint | undefined {
    const file = this.#file(path);
    return file && BigInt(this.#bytesOf(file));
  }

  link(target: string, path: string): void {
    if (this.#files.has(path)) throw problem('EEXIST', 'file already exists', 'symlink', path);
    this.#put(path, { target });
  }

  danglingLinks(directory: string): readonly string[] {
    return this.list(directory).filter((name) => {
      const file = this.#files.get(`${directory}/${name}`);
      return file && 'target' in file && !this.has(file.target);
    });
  }

  rename(from: string, to: string): void {
    const file = this.#files.get(from);
    if (!file) throw problem('ENOENT', 'no such file or directory', 'rename', from);
    this.remove(from);
    this.#files.delete(to);
    this.#put(to, file);
  }

  /** Puts a tenth of it beside it. */
  compress(path: string): void {
    const file = this.#file(path);
    if (!file) throw problem('ENOENT', 'no such file or directory', 'stat', path);
    const extraBytes = Math.ceil(this.#bytesOf(file) / 10);
    this.remove(path);
    this.#put(`${path}.gz`, { text: '', extraBytes });
  }

  /** Files whose path begins so. */
  withPrefix(prefix: string): readonly string[] {
    const { parent, name: start } = split(prefix);
    return this.list(parent)
      .filter((name) => name.startsWith(start))
      .map((name) => `${parent === '/' ? '' : parent}/${name}`)
      .filter((path) => this.#files.has(path));
  }

  /** Whoever wrote the file of that name before writes on into what it has become. */
  openLog(path: string, bytesPerSecond: number): void {
    const growth = { bytesPerSecond, sinceMs: this.nowMs() };
    const file = this.#file(path);
    if (file) {
      this.#settle(file);
      file.growth = growth;
      return;
    }
    const { parent, name } = split(path);
    for (const other of this.list(parent)) if (other.startsWith(`${name}.`)) this.closeLog(`${parent}/${other}`);
    this.#put(path, { text: '', extraBytes: 0, growth });
  }

  closeLog(path: string): void {
    const file = this.#file(path);
    if (file) this.#settle(file);
  }

  paths(): readonly string[] {
    return [...this.#files.keys(), ...this.#directories.keys()].sort();
  }

  /** Of all files together. */
  bytes(): bigint {
    let sum = 0;
    for (const file of this.#files.values()) if (!('target' in file)) sum += this.#bytesOf(file);
    return BigInt(sum);
  }

  #file(path: string): File | undefined {
    const file = this.#files.get(path);
    return file && 'target' in file ? this.#file(file.target) : file;
  }

  #bytesOf({ text, extraBytes, growth }: File): number {
    const grown = growth ? Math.floor((growth.bytesPerSecond * (this.nowMs() - growth.sinceMs)) / 1000) : 0;
    return text.length + extraBytes + grown;
  }

  #settle(file: File): void {
    file.extraBytes = this.#bytesOf(file) - file.text.length;
    file.growth = undefined;
  }

  #put(path: string, file: File | Link): void {
    const { parent, name } = split(path);
    this.makeDirectory(parent);
    this.#files.set(path, file);
    this.#directories.get(parent)!.add(name);
  }
}

const split = (path: string): { readonly parent: string; readonly name: string } => {
  const slash = path.lastIndexOf('/');
  return { parent: path.slice(0, slash) || '/', name: path.slice(slash + 1) };
};

const problem = (code: string, meaning: string, call: string, path: string): Error =>
  Object.assign(new Error(`${code}: ${meaning}, ${call} '${path}'`), { code });

import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLE } from './daemon.js';

/**
 * The built package in a folder of its own, where another version can take its place as by `npm install`: all files of the earlier one are
 * removed first. Each version has its own names of chunks.
 */
export class InstalledPackage {
  /** The program, whichever version is installed. */
  readonly program: string;

  constructor(private readonly folder: string) {
    this.program = join(folder, 'dist', 'rx-kubelet.js');
  }

  /** Errors: the package is not built. */
  install(version: string): void {
    this.remove();
    const dist = join(this.folder, 'dist');
    mkdirSync(this.folder, { recursive: true });
    const isNeeded = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('lib');
    cpSync(dirname(BUNDLE), dist, { recursive: true, filter: isNeeded });
    const mark = version.replaceAll(/\W/g, '_');
    const chunks = join(dist, 'chunks');
    const renamed = (text: string): string => text.replaceAll(/-([A-Z0-9]{8})\.js/g, `-$1_${mark}.js`);
    for (const folder of [dist, chunks])
      for (const name of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
        const path = join(folder, name);
        writeFileSync(path, renamed(readFileSync(path, 'utf8')));
        renameSync(path, join(folder, renamed(name)));
      }
    const about = JSON.parse(readFileSync(join(dirname(BUNDLE), '..', 'package.json'), 'utf8')) as object;
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify({ ...about, version }));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

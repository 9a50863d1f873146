import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, type Observable } from 'rxjs';
import { afterEach, beforeEach } from 'vitest';
import { mountPointsIn } from '../../../src/host/files/mount-points.js';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import type { VolumePayload } from '../../../src/model/volumes/volume-payload.js';
import type { VolumeFiles } from '../../../src/streams/ports/volume-files.js';

export const IS_ROOT = process.getuid?.() === 0;

/** A directory of its own for each test, without mounts afterwards. */
export const volumeStage = (): { readonly at: (...names: readonly string[]) => string } => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'volumes-')));
  });
  afterEach(() => {
    for (const point of mountsBelow(root).toReversed()) execFileSync('umount', ['--', point]);
    rmSync(root, { recursive: true, force: true });
  });
  return { at: (...names) => join(root, ...names) };
};

export const mountsBelow = (path: string): readonly string[] =>
  mountPointsIn(readFileSync('/proc/self/mountinfo', 'utf8')).filter(
    (point) => point === path || point.startsWith(`${path}/`),
  );

export const done = <T>(work$: Observable<T>): Promise<T | undefined> =>
  lastValueFrom(work$, { defaultValue: undefined });

export const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);

export const filesOf = (texts: Readonly<Record<string, string>>, mode = 0o644): VolumePayload =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));

/** The names in a directory except those of the agent. */
export const visibleIn = (path: string): readonly string[] =>
  readdirSync(path)
    .filter((name) => !name.startsWith('..'))
    .sort();

export const makeDirectory = (path: string): string => {
  mkdirSync(path, { recursive: true });
  return path;
};

class Killed extends Error {}

/**
 * Ends the work before each of its calls in turn, as a kill would: no later call of that run has an effect. After each
 * kill, `recover` runs. Returns the number of kills.
 */
export const killEverywhere = async (
  prepare: () => Promise<void>,
  work: (files: VolumeFiles) => Observable<unknown>,
  recover: (killedAt: number, call: string) => Promise<void>,
): Promise<number> => {
  for (let killedAt = 0; ; killedAt += 1) {
    await prepare();
    let count = 0;
    let killedCall = '';
    const files = volumeFiles({
      beforeCall: (call) => {
        count += 1;
        if (count <= killedAt) return;
        killedCall ||= call;
        throw new Killed(`killed before call ${count}, ${call}`);
      },
    });
    await done(work(files)).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
    if (killedCall === '') return killedAt;
    await recover(killedAt, killedCall);
  }
};

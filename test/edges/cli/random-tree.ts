import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setImmediate as turn } from 'node:timers/promises';
import type { Dice } from '../../embedded/seeded.js';

/** Characters are bytes. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const NAMES = [
  'a',
  'a b',
  '-x',
  '--remove-files',
  'new\nline',
  '\\',
  '"',
  '$(x)',
  'ä',
  '\uFFFD',
  '日本',
  '...',
  '\u{1F600}',
];
/** The sizes around a block of an archive, a buffer of Node, and a read of an upload. */
const SIZES = [1, 511, 512, 513, 10_000, 65_537, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1];
const LONGEST_HOLE = 2 ** 20;
const GROWN_MAX_BYTES = 2 ** 22;
const IS_ROOT = process.geteuid?.() === 0;

const nameOf = (dice: Dice): string => {
  if (dice.between(0, 3) === 0) return Buffer.from(dice.oneOf(NAMES)).toString('latin1');
  const length = dice.between(0, 5) === 0 ? dice.oneOf([99, 100, 101, 155, 254]) : dice.between(1, 12);
  const drawn = Array.from({ length }, () => dice.between(1, 255)).map((byte) => (byte === 0x2f ? 0x2e : byte));
  return `n${String.fromCharCode(...drawn)}`;
};

/** Other users than root would not read what they may not. */
const modeOf = (dice: Dice): number => dice.between(0, 0o7777) | (IS_ROOT ? 0 : 0o700);

const writeFile = (dice: Dice, path: Buffer): void => {
  const size = dice.between(0, 3) === 0 ? 0 : dice.oneOf(SIZES);
  writeFileSync(path, Buffer.alloc(size, nameOf(dice), 'latin1'));
  if (dice.between(0, 9) === 0) truncateSync(path, dice.between(0, LONGEST_HOLE));
};

/** Fills a folder with files, folders, symlinks, hard links, pipes and holes, with names of any bytes and any modes. */
export const makeTree = (dice: Dice, folder: string): void => {
  const linkable: Buffer[] = [];
  const fill = (directory: string, depth: number): void => {
    for (let count = dice.between(0, 6); count > 0; count -= 1) {
      const name = `${directory}/${nameOf(dice)}`;
      const path = bytes(name);
      if (lstatSync(path, { throwIfNoEntry: false })) continue;
      const kind = dice.oneOf(['file', 'file', 'file', 'folder', 'folder', 'symlink', 'link', 'pipe'] as const);
      const linked = kind === 'link' && linkable.length > 0 ? dice.oneOf(linkable) : undefined;
      if (kind === 'folder') {
        mkdirSync(path);
        if (depth > 0) fill(name, depth - 1);
      } else if (kind === 'symlink') symlinkSync(bytes(nameOf(dice)), path);
      else if (linked) linkSync(linked, path);
      // The command has no bytes as arguments.
      else if (kind === 'pipe' && dice.between(0, 3) === 0) spawnSync('mkfifo', ['pipe'], { cwd: folder });
      else writeFile(dice, path);
      if (kind !== 'symlink' && !linked && lstatSync(path, { throwIfNoEntry: false })) chmodSync(path, modeOf(dice));
      if (kind !== 'folder' && lstatSync(path, { throwIfNoEntry: false })) linkable.push(path);
    }
  };
  mkdirSync(folder);
  fill(bytes(folder).toString('latin1'), 3);
  chmodSync(folder, modeOf(dice));
};

/** One line for each path below a folder: kind, mode, owner, and the sum of the content or the target of a link. */
export const treeListing = (folder: string): ReadonlyMap<string, string> => {
  const lines = new Map<string, string>();
  const list = (path: string): void => {
    const stats = lstatSync(bytes(path));
    const kind = ['isFile', 'isDirectory', 'isSymbolicLink'] as const;
    const is = kind.find((each) => stats[each]()) ?? 'isOther';
    const content =
      is === 'isFile'
        ? createHash('sha1')
            .update(readFileSync(bytes(path)))
            .digest('hex')
        : is === 'isSymbolicLink'
          ? readlinkSync(bytes(path), { encoding: 'latin1' })
          : '';
    const { mode, uid, gid } = stats;
    lines.set(path.slice(folder.length), `${is.slice(2)} ${(mode & 0o7777).toString(8)} ${uid}:${gid} ${content}`);
    if (is === 'isDirectory')
      for (const name of readdirSync(bytes(path), { encoding: 'latin1' })) list(`${path}/${name}`);
  };
  list(folder);
  return lines;
};

/** The lines of a listing without those of some kinds. */
export const without = (
  listing: ReadonlyMap<string, string>,
  ...kinds: readonly ('SymbolicLink' | 'Other')[]
): ReadonlyMap<string, string> =>
  new Map([...listing].filter(([, line]) => !kinds.some((kind) => line.startsWith(`${kind} `))));

/** Makes a file longer until the result is called. */
export const growing = (path: string): (() => Promise<void>) => {
  let isOver = false;
  const grown = (async () => {
    for (let size = 0; !isOver && size < GROWN_MAX_BYTES; size += 10_000) {
      appendFileSync(path, Buffer.alloc(10_000, String(size)));
      await turn();
    }
  })();
  return () => {
    isOver = true;
    return grown;
  };
};

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readArchive, tarDownload } from '../../../src/cli/local/tar-download.js';
import { tarUpload } from '../../../src/cli/local/tar-upload.js';
import { type Dice, dice, SEED } from '../../embedded/seeded.js';
import { growing, makeTree, treeListing, without } from './random-tree.js';

/** `COPY_TREES=2000 npx vitest run test/edges/cli/copied-trees.test.ts` copies more; SEED draws others. */
const TREES = Number(process.env.COPY_TREES ?? 25);
/** A copy without an end is the fault that is looked for. */
const HANG_MS = 60_000 + TREES * 2_000;
const GROWING = 'growing';
/** The errors of an archive that is cut off. */
const CUT_OFF = ['Unexpected end of data', 'the archive ended within a file', 'the connection has ended'];

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-trees-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const made = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

/** Runs a script of the shell; `$1` and the others are the arguments. */
const shell = (script: string, ...args: readonly string[]): void => {
  const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', ...args], { maxBuffer: 2 ** 26 });
  expect([status, stderr.toString()]).toEqual([0, '']);
};

/** A command as the program of a container: its streams and its end. */
const farSide = (command: readonly string[]) => {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  return {
    ...child,
    stdin: child.stdin,
    stdout: child.stdout,
    exit: once(child, 'exit').then(([code]) => code as number),
  };
};

const upload = async (tar: readonly string[], source: string, target: string) => {
  const [failures, warnings]: [string[], string[]] = [[], []];
  const archive = tarUpload({
    ...{ path: source, name: 'tree', folders: 'all' },
    warn: (line) => warnings.push(line),
    fail: (line) => failures.push(line),
  });
  const { stdin, exit } = farSide([...tar, '-xmf', '-', '-C', target]);
  await pipeline(archive, stdin);
  return { code: await exit, failures, warnings };
};

const download = async (tar: readonly string[], source: string, target: string) => {
  const failures: string[] = [];
  const archive = readArchive();
  const lines = { warn: () => undefined, fail: (line: string) => void failures.push(line) };
  const written = tarDownload(archive, { copied: source, target, ...lines });
  const { stdout, exit } = farSide([...tar, 'cf', '-', source]);
  await pipeline(stdout, archive as unknown as Writable);
  await written;
  return { code: await exit, failures };
};

/** Takes the grown file out of a listing: its copy is the beginning of the file. */
const checkGrown = (
  listing: ReadonlyMap<string, string>,
  copy: string,
  source: string,
): ReadonlyMap<string, string> => {
  const [part, whole] = [readFileSync(join(copy, GROWING)), readFileSync(join(source, GROWING))];
  expect(whole.subarray(0, part.length).equals(part)).toBe(true);
  return new Map([...listing].filter(([path]) => path !== `/${GROWING}`));
};

const lasting = async <T>(path: string, copy: () => Promise<T>): Promise<T> => {
  const stop = growing(path);
  try {
    return await copy();
  } finally {
    await stop();
  }
};

const treeOf = (drawn: Dice): string => {
  const tree = join(folder, 'tree');
  makeTree(drawn, tree);
  writeFileSync(join(tree, GROWING), Buffer.alloc(drawn.oneOf([0, 1, 300_000]), 'g'));
  return tree;
};

const eachTree = async (check: (tree: string, drawn: Dice) => Promise<void>): Promise<void> => {
  for (let number = 0; number < TREES; number += 1) {
    const drawn = dice(SEED + number);
    try {
      await check(treeOf(drawn), drawn);
    } catch (error) {
      throw new Error(`with SEED=${drawn.seed}: ${(error as Error).message}`, { cause: error });
    }
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
  }
};

for (const command of ['tar', 'busybox tar']) {
  const tar = command.split(' ');
  const isMissing = spawnSync(tar[0] ?? '', ['--help']).error !== undefined;

  it.skipIf(isMissing)(
    `an upload of any tree to the ${command} of a container gives what tar extracts`,
    { timeout: HANG_MS },
    () =>
      eachTree(async (tree) => {
        const [expected, actual] = [made('expected'), made('actual')];
        shell(`tar cf - -C "$1" tree | ${command} -xmf - -C "$2"`, folder, expected);
        const result = await lasting(join(tree, GROWING), () => upload(tar, tree, actual));
        expect(result).toMatchObject({ code: 0, failures: [] });
        const listing = treeListing(join(expected, 'tree'));
        const files = without(listing, 'Other');
        expect(result.warnings).toHaveLength(listing.size - files.size);
        const copied = checkGrown(treeListing(join(actual, 'tree')), join(actual, 'tree'), tree);
        expect(copied).toEqual(checkGrown(files, join(expected, 'tree'), tree));
      }),
  );

  it.skipIf(isMissing)(
    `a download of any tree from the ${command} of a container gives what tar extracts for a user, without symlinks`,
    { timeout: HANG_MS },
    () =>
      eachTree(async (tree) => {
        const [expected, actual] = [made('expected'), join(folder, 'actual')];
        const extract = 'tar --no-same-permissions --no-same-owner -xf -';
        shell(`${command} cf - -C "$1" tree | ${extract} -C "$2"`, folder, expected);
        const { failures } = await lasting(join(tree, GROWING), () => download(tar, tree, actual));
        expect(failures).toEqual([]);
        const files = without(treeListing(join(expected, 'tree')), 'Other', 'SymbolicLink');
        const copied = checkGrown(treeListing(actual), actual, tree);
        expect(copied).toEqual(checkGrown(files, join(expected, 'tree'), tree));
      }),
  );
}

it('a download of an archive that is cut off anywhere ends', { timeout: HANG_MS }, () =>
  eachTree(async (tree, drawn) => {
    const { stdout } = farSide(['tar', 'cf', '-', tree]);
    const whole = await buffer(stdout);
    const archive = readArchive();
    const nothing = { warn: () => undefined, fail: () => undefined };
    const written = tarDownload(archive, { copied: tree, target: join(folder, 'cut'), ...nothing }).catch(String);
    archive.write(whole.subarray(0, drawn.between(0, whole.length)));
    if (drawn.between(0, 1) === 0) archive.destroy(new Error('the connection has ended'));
    else (archive as unknown as Writable).end();
    expect([undefined, ...CUT_OFF.map((message) => `Error: ${message}`)]).toContain(await written);
    expect(existsSync(tree)).toBe(true);
  }),
);

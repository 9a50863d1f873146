import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { lastValueFrom, of, Subscription, tap } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logFiles } from '../../../src/host/logs/log-files.js';
import { logReading } from '../../../src/host/logs/log-reading.js';
import { containerLog, type ContainerLogOptions } from '../../../src/streams/logs/container-log.js';
import { LOG_BLOCK_BYTES } from '../../../src/streams/logs/tail-start.js';
import type { LogReading } from '../../../src/streams/ports/log-reading.js';
import { eventually } from '../../embedded/eventually.js';
import { criLine } from '../../support/memory-logs.js';

let folder = '';
let path = '';
let reader: Subscription | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-reading-'));
  path = join(folder, 'main', '0.log');
  mkdirSync(dirname(path));
});
afterEach(() => {
  reader?.unsubscribe();
  reader = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const PRINT = { stream: 'All', timestamps: false } as const;
const log = (options: Partial<ContainerLogOptions> = {}) =>
  containerLog({ path, files: logReading, print: PRINT, ...options });

/** The output of a whole log. */
const outputOf = async (options?: Partial<ContainerLogOptions>): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  await log(options).forEach((bytes) => void parts.push(bytes));
  return Buffer.concat(parts);
};

/** Follows the log; returns its output so far, the state of the container, and whether the log has ended. */
const follow = (options: Partial<ContainerLogOptions> = {}) => {
  const followed = { output: '', isRunning: true, hasEnded: false, problem: undefined as unknown };
  const log$ = log({ follow: { isRunning: () => of(followed.isRunning) }, ...options });
  reader = log$.subscribe({
    next: (bytes) => (followed.output += Buffer.from(bytes).toString()),
    error: (error: unknown) => (followed.problem = error),
    complete: () => (followed.hasEnded = true),
  });
  return followed;
};

/** Without the check of every second: only the watch can bring a change. */
const watchedOnly: Partial<ContainerLogOptions> = { scheduler: { now: () => 0, schedule: () => new Subscription() } };
/** Without a watch: only the check can. */
const checkedOnly: LogReading = {
  ...logReading,
  changes: () => {
    throw new Error('the machine has no watches left');
  },
};

const outputIs = (followed: { readonly output: string }, expected: string): Promise<unknown> =>
  eventually(`the output is ${JSON.stringify(expected)}`, () => {
    expect(followed.output).toBe(expected);
    return true;
  });

/** The open files of this process below the folder. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return [];
    }
  });

/** The port with a count of the bytes that are read. */
const counting = () => {
  const counted = {
    bytes: 0,
    files: {
      ...logReading,
      open: (path, use) =>
        logReading.open(path, (file) =>
          use(
            file && {
              ...file,
              read: (position, length) =>
                file.read(position, length).pipe(tap((bytes) => (counted.bytes += bytes.length))),
            },
          ),
        ),
    } satisfies LogReading as LogReading,
  };
  return counted;
};

describe('a log on disk', () => {
  it('of 10,000 lines comes byte for byte, in both streams, whole or split, text or not', async () => {
    const byteOf = (index: number, at: number): number => (index * 7 + at * 13) % 256;
    const contents = Array.from({ length: 10_000 }, (_, index) =>
      Buffer.from(Array.from({ length: index % 300 }, (_, at) => byteOf(index, at)).filter((byte) => byte !== 10)),
    );
    const written: Buffer[] = [];
    const expected: Buffer[] = [];
    contents.forEach((content, index) => {
      const header = (tag: string) => Buffer.from(`2026-01-31T12:00:00Z ${index % 3 ? 'stdout' : 'stderr'} ${tag} `);
      const half = content.length >> 1;
      if (index % 5 === 0) written.push(header('P'), content.subarray(0, half), Buffer.from('\n'));
      written.push(header('F'), index % 5 === 0 ? content.subarray(half) : content, Buffer.from('\n'));
      expected.push(content, Buffer.from('\n'));
    });
    writeFileSync(path, Buffer.concat(written));
    expect((await outputOf()).equals(Buffer.concat(expected))).toBe(true);
  });

  it('of 100 MB is read only at its end for the last lines', async () => {
    // A hole, then the last lines.
    writeFileSync(path, '');
    truncateSync(path, 100_000_000);
    appendFileSync(path, `\n${criLine('a')}${criLine('b')}`);
    const counted = counting();
    expect((await outputOf({ files: counted.files, tailLines: 2 })).toString()).toBe('a\nb\n');
    expect(counted.bytes).toBeLessThanOrEqual(2 * LOG_BLOCK_BYTES);
  });

  it('is only its current file: the rotated ones are not read', async () => {
    writeFileSync(path, criLine('now'));
    writeFileSync(`${path}.20260131-120000`, criLine('before'));
    writeFileSync(`${path}.20260130-120000.gz`, gzipSync(criLine('long before')));
    expect((await outputOf({ tailLines: 5 })).toString()).toBe('now\n');
  });

  it.each<[string, () => void, string]>([
    ['is missing', () => undefined, 'there is no log file'],
    ['is a folder', () => mkdirSync(path), 'is not a regular file (expected a log)'],
    ['is a pipe', () => void spawnSync('mkfifo', [path]), 'is not a regular file (expected a log)'],
    ['is no log', () => writeFileSync(path, 'garbage\n'), 'unsupported log format: "garbage\\n"'],
  ])('that %s is an error, and leaves nothing open', async (_, make, message) => {
    make();
    await expect(outputOf()).rejects.toThrow(message);
    await eventually('nothing is open', () => openFiles().length === 0);
  });
});

describe('a log on disk that is followed', () => {
  it.each<[string, Partial<ContainerLogOptions>]>([
    ['by its watch', watchedOnly],
    ['without a watch', { files: checkedOnly }],
  ])('is followed across rotations %s, and no line is lost or doubled', async (_, options) => {
    writeFileSync(path, criLine('a'));
    const followed = follow(options);
    await outputIs(followed, 'a\n');
    let expected = 'a\n';
    for (const round of [1, 2, 3]) {
      const rotated = `${path}.20260131-12000${round}`;
      appendFileSync(path, criLine(`before ${round}`));
      renameSync(path, rotated);
      appendFileSync(rotated, criLine(`renamed ${round}`));
      writeFileSync(path, criLine(`after ${round}`));
      await lastValueFrom(logFiles.compress(rotated), { defaultValue: undefined });
      expected += `before ${round}\nrenamed ${round}\nafter ${round}\n`;
      await outputIs(followed, expected);
    }
    followed.isRunning = false;
    appendFileSync(path, criLine('end'));
    await eventually('the log has ended', () => followed.hasEnded);
    expect(followed.output).toBe(`${expected}end\n`);
    await eventually('nothing is open', () => openFiles().length === 0);
  });

  it('is followed through a link, by the watch of the folder of its target', async () => {
    const link = join(folder, 'link.log');
    symlinkSync(path, link);
    writeFileSync(path, criLine('a'));
    const followed = follow({ ...watchedOnly, path: link });
    await outputIs(followed, 'a\n');
    appendFileSync(path, criLine('b'));
    await outputIs(followed, 'a\nb\n');
  });

  it('goes on from the beginning after a truncation', async () => {
    writeFileSync(path, criLine('a') + criLine('b'));
    const followed = follow();
    await outputIs(followed, 'a\nb\n');
    // Shorter than before, at every moment.
    writeFileSync(path, criLine('c'));
    await outputIs(followed, 'a\nb\nc\n');
  });

  it('joins a line that is written in parts, and a character that is split between them', async () => {
    const bytes = Buffer.from(criLine('größer'));
    const cut = bytes.indexOf(0xc3) + 1;
    writeFileSync(path, criLine('a'));
    const followed = follow();
    await outputIs(followed, 'a\n');
    appendFileSync(path, bytes.subarray(0, cut));
    appendFileSync(path, bytes.subarray(cut));
    await outputIs(followed, 'a\ngrößer\n');
  });

  it('stays open when its file vanishes, and goes on with the next one', async () => {
    writeFileSync(path, criLine('a'));
    const followed = follow();
    await outputIs(followed, 'a\n');
    unlinkSync(path);
    writeFileSync(path, criLine('b'));
    await outputIs(followed, 'a\nb\n');
    rmSync(dirname(path), { recursive: true });
    followed.isRunning = false;
    await eventually('the log has ended', () => followed.hasEnded);
    expect(followed).toMatchObject({ output: 'a\nb\n', problem: undefined });
  });

  it('leaves nothing open behind its reader, whenever that leaves', async () => {
    writeFileSync(path, criLine('a').repeat(50_000));
    for (let turns = 0; turns < 30; turns += 1) {
      follow();
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      reader?.unsubscribe();
    }
    await eventually('nothing is open', () => openFiles().length === 0);
    const watches = () =>
      readdirSync('/proc/self/fdinfo').filter((fd) => {
        try {
          return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').includes('inotify wd:');
        } catch {
          return false;
        }
      });
    await eventually('nothing is watched', () => watches().length === 0);
  });
});

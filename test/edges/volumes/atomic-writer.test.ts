import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import type { VolumePayload } from '../../../src/model/volumes/volume-payload.js';
import {
  done,
  filesOf,
  IS_ROOT,
  killEverywhere,
  makeDirectory,
  modeOf,
  visibleIn,
  volumeStage,
} from './volume-stage.js';

const { at } = volumeStage();
const files = volumeFiles();
const write = (payload: VolumePayload, volume = at('v')) => done(files.write(makeDirectory(volume), payload));
const text = (...names: readonly string[]): string => readFileSync(at('v', ...names), 'utf8');

describe('the files of a volume', () => {
  it('are links to a dated directory behind ..data, with exact modes', async () => {
    const umask = process.umask(0o077);
    try {
      expect(await write(new Map([...filesOf({ a: '1', 'd/e/f': '2' }), ...filesOf({ s: '3' }, 0o400)]))).toBe(
        'changed',
      );
    } finally {
      process.umask(umask);
    }
    const dated = readlinkSync(at('v', '..data'));
    expect(dated).toMatch(/^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+$/);
    expect(modeOf(at('v', dated))).toBe('755');
    expect([text('a'), text('d/e/f'), text('s')]).toEqual(['1', '2', '3']);
    expect(readlinkSync(at('v', 'a'))).toBe('..data/a');
    expect(readlinkSync(at('v', 'd'))).toBe('..data/d');
    expect([modeOf(at('v', dated, 'a')), modeOf(at('v', dated, 's'))]).toEqual(['644', '400']);
    expect(visibleIn(at('v'))).toEqual(['a', 'd', 's']);
  });

  it('stay as they are if the content is the same, with any modes', async () => {
    await write(filesOf({ a: '1', 'd/e': '2' }));
    const dated = readlinkSync(at('v', '..data'));
    expect(await write(filesOf({ a: '1', 'd/e': '2' }, 0o600))).toBe('unchanged');
    expect(readlinkSync(at('v', '..data'))).toBe(dated);
    expect(modeOf(at('v', dated, 'a'))).toBe('644');
  });

  it.each([
    ['a new file', { a: '1', 'd/e': '2', n: '3' }, ['a', 'd', 'n']],
    ['a changed file', { a: '9', 'd/e': '2' }, ['a', 'd']],
    ['a file less', { 'd/e': '2' }, ['d']],
    ['a file less in a directory that stays', { a: '1', 'd/f': '2' }, ['a', 'd']],
    ['a directory in the place of a file', { 'a/b': '1', 'd/e': '2' }, ['a', 'd']],
    ['a file in the place of a directory', { a: '1', d: '2' }, ['a', 'd']],
    ['nothing', {}, []],
  ])('become those of the next call: %s', async (_, next: Record<string, string>, names) => {
    await write(filesOf({ a: '1', 'd/e': '2' }));
    expect(await write(filesOf(next))).toBe('changed');
    expect(visibleIn(at('v'))).toEqual(names);
    for (const [path, content] of Object.entries(next)) expect(text(path)).toBe(content);
    expect(readdirSync(at('v')).filter((name) => name.startsWith('..2'))).toEqual([readlinkSync(at('v', '..data'))]);
    expect(await write(filesOf(next))).toBe('unchanged');
  });

  it('leave alone a directory on which another volume is mounted', async () => {
    makeDirectory(at('v', 'nested'));
    await write(filesOf({ a: '1' }));
    await write(filesOf({ b: '1' }));
    expect(visibleIn(at('v'))).toEqual(['b', 'nested']);
    expect(lstatSync(at('v', 'nested')).isDirectory()).toBe(true);
  });

  it('a key that comes later replaces the directory of its sub-path, with what is in it', async () => {
    await write(filesOf({ a: '1' }));
    makeDirectory(at('v', 'later', 'deep'));
    writeFileSync(at('v', 'other'), 'by hand');
    expect(await write(filesOf({ a: '1', later: '2', 'other/b': '3' }))).toBe('changed');
    expect([text('later'), text('other', 'b')]).toEqual(['2', '3']);
    expect(await write(filesOf({ a: '1', later: '2', 'other/b': '3' }))).toBe('unchanged');
  });

  it('a directory in the place of a link is replaced although the content is the same', async () => {
    await write(filesOf({ a: '1' }));
    unlinkSync(at('v', 'a'));
    makeDirectory(at('v', 'a'));
    expect(await write(filesOf({ a: '1' }))).toBe('changed');
    expect(text('a')).toBe('1');
  });

  it('a mount point keeps its place from keys of its name, before and after it is made', async () => {
    const writeAround = (texts: Readonly<Record<string, string>>) =>
      done(files.write(makeDirectory(at('v')), filesOf(texts), undefined, ['d/point', 'later']));
    makeDirectory(at('v', 'd', 'point'));
    await writeAround({ a: '1', d: '2', later: '3' });
    expect(visibleIn(at('v'))).toEqual(['a', 'd']);
    makeDirectory(at('v', 'later'));
    expect(await writeAround({ a: '1', d: '2', later: '3' })).toBe('unchanged');
    expect([readdirSync(at('v', 'd')), readdirSync(at('v', 'later'))]).toEqual([['point'], []]);
  });

  it('get a link again that is missing', async () => {
    await write(filesOf({ a: '1' }));
    const dated = readlinkSync(at('v', '..data'));
    unlinkSync(at('v', 'a'));
    expect(await write(filesOf({ a: '1' }))).toBe('changed');
    expect(text('a')).toBe('1');
    expect(readlinkSync(at('v', '..data'))).toBe(dated);
  });

  it.each([
    ['..', "must not contain '..'"],
    ['a/../../b', "must not contain '..'"],
    ['..data', "must not start with '..'"],
    ['./..data/x', "must not start with '..'"],
    ['/etc/passwd', 'must be relative path'],
    ['x'.repeat(256), 'filenames must be less than or equal to 255 characters'],
  ])('never have the path %s', async (path, problem) => {
    await write(filesOf({ a: '1' }));
    await expect(write(filesOf({ a: '2', [path]: 'x' }))).rejects.toThrow(`invalid path: ${problem}`);
    expect(text('a')).toBe('1');
    expect(readdirSync(at('v')).length).toBe(3);
  });

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a link', (path: string) => symlinkSync(at('outside'), path)],
    ['a directory', (path: string) => makeDirectory(path)],
  ])('are written again where one of them was replaced by %s', async (_, replace) => {
    writeFileSync(at('outside'), 'same');
    const content = { a: 'same', empty: '' };
    for (const name of ['a', 'empty']) {
      await write(filesOf(content));
      const path = at('v', readlinkSync(at('v', '..data')), name);
      unlinkSync(path);
      replace(path);
      expect(await write(filesOf(content))).toBe('changed');
      const dated = at('v', readlinkSync(at('v', '..data')));
      expect([text('a'), lstatSync(join(dated, name)).isFile()]).toEqual(['same', true]);
    }
    expect(readFileSync(at('outside'), 'utf8')).toBe('same');
  });

  it('are not looked for behind a ..data that leads out of the volume', async () => {
    makeDirectory(at('outside'));
    writeFileSync(at('outside', 'precious'), '');
    makeDirectory(at('v'));
    symlinkSync('../outside', at('v', '..data'));
    await write(filesOf({ a: '1' }));
    expect(text('a')).toBe('1');
    expect(existsSync(at('outside', 'precious'))).toBe(true);
  });

  it('are refused where ..data is a directory', async () => {
    makeDirectory(at('v', '..data'));
    await expect(write(filesOf({ a: '1' }))).rejects.toThrow(
      `${at('v', '..data')} is not a symbolic link, expected that of the volume`,
    );
  });

  it('are 500 of 1 MiB in all, and a single one of 1 MiB', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key-${index}`, 'x'.repeat(2_000)]));
    await write(filesOf({ ...many, big: 'y'.repeat(2 ** 20) }));
    expect(visibleIn(at('v')).length).toBe(501);
    expect(text('big').length).toBe(2 ** 20);
    expect(text('key-499').length).toBe(2_000);
  });
});

describe.runIf(IS_ROOT)('the owners of files', () => {
  it('are the user of a file, and the group of the volume in the whole directory before the switch', async () => {
    const token = { data: Buffer.from('t'), mode: 0o600, user: 1234 };
    const payload = new Map([...filesOf({ 'd/a': '1' }), ['token', token] as const]);
    await done(files.write(makeDirectory(at('v')), payload, { fsGroup: 77, readOnly: true }));
    const dated = at('v', readlinkSync(at('v', '..data')));
    const ownerOf = (path: string) => [lstatSync(path).uid, lstatSync(path).gid, modeOf(path)];
    expect(ownerOf(join(dated, 'token'))).toEqual([1234, 77, '640']);
    expect(ownerOf(join(dated, 'd/a'))).toEqual([0, 77, '644']);
    expect(ownerOf(join(dated, 'd'))).toEqual([0, 77, '2755']);
    expect(ownerOf(dated)).toEqual([0, 77, '2755']);
    expect(ownerOf(at('v'))).toEqual([0, 77, '2755']);
  });
});

describe.runIf(IS_ROOT)('a full disk', () => {
  it('is named in the error, and the old files stay', async () => {
    const setup = {
      directory: at('v'),
      markerDirectory: at('m'),
      mount: { type: 'tmpfs', source: 'tmpfs', options: ['size=64k'] },
    } as const;
    await done(files.setUp(setup));
    await write(filesOf({ a: 'old' }));
    const before = readdirSync(at('v'));
    await expect(write(filesOf({ a: 'new', big: 'x'.repeat(200_000) }))).rejects.toThrow(/ENOSPC.*\/v\/.*\/big/);
    expect(text('a')).toBe('old');
    expect(readdirSync(at('v'))).toEqual(before);
    expect(await write(filesOf({ a: 'new' }))).toBe('changed');
  });
});

/** Reads in a loop until it is stopped, and counts the reads in shared memory; reports what it should not have seen. */
const READER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { readFileSync, readlinkSync } = require('node:fs');
  const { volume, stop } = workerData;
  const flag = new Int32Array(stop);
  const wrong = [];
  const ifThere = (read) => { try { return read(); } catch (error) { if (error.code !== 'ENOENT') throw error; } };
  while (Atomics.load(flag, 0) === 0) {
    const dated = readlinkSync(volume + '/..data');
    const both = ifThere(() => [readFileSync(volume + '/' + dated + '/a', 'latin1'), readFileSync(volume + '/' + dated + '/b', 'latin1')]);
    if (both && both[0] !== both[1]) wrong.push('two versions: ' + both.map((text) => text.slice(0, 5)).join(' and '));
    const single = ifThere(() => readFileSync(volume + '/a', 'latin1'));
    if (single !== undefined && (single.length !== 20000 || single !== single[0].repeat(20000))) wrong.push('half a file');
    if (both) Atomics.add(flag, 1, 1);
  }
  parentPort.postMessage(wrong.slice(0, 5));
`;

describe('a reader', () => {
  it('sees the files of one call, never a mixture, while they are switched', async () => {
    const version = (count: number): VolumePayload => {
      const content = String.fromCharCode(97 + (count % 26)).repeat(20_000);
      return filesOf({ a: content, b: content });
    };
    await write(version(0));
    // The flag that stops the reader, and its count of reads.
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const reader = new Worker(READER, { eval: true, workerData: { volume: at('v'), stop: shared.buffer } });
    let isReading = true;
    const report = new Promise<string[]>((resolve, reject) => {
      reader.once('message', resolve);
      reader.once('error', reject);
    }).finally(() => (isReading = false));
    // It is awaited in the end.
    report.catch(() => undefined);
    try {
      // A busy machine gives the reader its turn late.
      for (let count = 1; isReading && (count <= 300 || Atomics.load(shared, 1) <= 20); count += 1)
        await write(version(count));
    } finally {
      Atomics.store(shared, 0, 1);
    }
    expect(await report).toEqual([]);
    expect(Atomics.load(shared, 1)).toBeGreaterThan(20);
  });
});

describe('a process that is killed during a write', () => {
  const OLD = { a: 'old', b: 'old', 'd/e': 'old', gone: 'old' };
  const NEW = { a: 'new', b: 'new', 'd/e': 'new', fresh: 'new' };
  const contentNow = () =>
    Object.fromEntries(['a', 'b', 'd/e'].map((path) => [path, readFileSync(at('v', path), 'utf8')]));

  it('leaves the old files or the new ones at any point, and the next call leaves the new ones alone', async () => {
    const kills = await killEverywhere(
      async () => {
        await done(files.tearDown({ directory: at('v'), markerDirectory: at('m') }));
        await write(filesOf(OLD));
      },
      (killed) => killed.write(at('v'), filesOf(NEW), { fsGroup: process.getgid!(), readOnly: true }),
      async () => {
        expect(new Set(Object.values(contentNow())).size).toBe(1);
        await write(filesOf(NEW));
        expect(visibleIn(at('v'))).toEqual(['a', 'b', 'd', 'fresh']);
        for (const [path, content] of Object.entries(NEW)) expect(text(path)).toBe(content);
        const own = readdirSync(at('v')).filter((name) => name.startsWith('..'));
        expect(own.sort()).toEqual([readlinkSync(at('v', '..data')), '..data'].sort());
        expect(await write(filesOf(NEW))).toBe('unchanged');
      },
    );
    expect(kills).toBeGreaterThan(30);
  });
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync, appendFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRecordingFile, type RecordingFileOptions } from '../../../../src/tools/recording/file/recording-file.js';
import { openRecording } from '../../../../src/tools/recording/file/recording-reader.js';
import type { Logger } from '../../../../src/streams/ports/logger.js';

const child = fileURLToPath(new URL('recording-child.ts', import.meta.url));
const node = [...['--import', 'tsx'], child];

let directory = '';
let path = '';
let warnings: string[] = [];
const nothing = (): void => undefined;
const log: Logger = {
  debug: nothing,
  info: nothing,
  warn: (fields, message) => void warnings.push(`${message}: ${(fields as { reason: string }).reason}`),
  error: nothing,
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'recording-'));
  path = join(directory, 'node.rec');
  warnings = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const HEADER = JSON.stringify({ kind: 'recording', format: 1 });
const lineOf = (reason: string): string => JSON.stringify({ kind: 'cut', reason });

/** A recording with its header, whose other entries only have a reason. */
const create = (options: Partial<RecordingFileOptions> = {}) => {
  const recording = createRecordingFile({
    path,
    lastLine: (reason) => lineOf(`ended: ${reason}`),
    maxBytes: 2 ** 30,
    log,
    ...options,
  });
  recording.append(HEADER);
  return { ...recording, append: (reason: string) => recording.append(lineOf(reason)) };
};

const read = (file = path) => {
  const { header, entries, tornBytes, close } = openRecording(file);
  try {
    const lines = [...entries].map((entry) => (entry as { readonly reason: string }).reason);
    return { header, lines, tornBytes: tornBytes() };
  } finally {
    close();
  }
};

const secondFrom = (): number | undefined => {
  const reader = openRecording(path);
  try {
    expect([...reader.entries].length).toBeGreaterThan(0);
    return reader.secondFrom();
  } finally {
    reader.close();
  }
};

/** What zips badly, but is the same each time. */
const noise = (length: number): string => {
  let state = 1;
  const draw = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 16;
  return Array.from({ length }, () => String.fromCharCode(33 + (draw() % 90))).join('');
};

describe('a recording', () => {
  it('gives back its lines, and is an ordinary gzip file that only its owner may read', async () => {
    const recording = create();
    recording.append('"ä"\n');
    recording.append('');
    recording.append('three');
    await recording.close();
    const header = { kind: 'recording', format: 1 };
    expect(read()).toEqual({ header, lines: ['"ä"\n', '', 'three'], tornBytes: 0 });
    const text = [HEADER, lineOf('"ä"\n'), lineOf(''), lineOf('three'), ''].join('\n');
    expect(gunzipSync(readFileSync(path)).toString()).toBe(text);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('leaves a file alone that is there, and takes the next free number', async () => {
    writeFileSync(path, 'mine');
    const [one, two] = [create(), create()];
    await Promise.all([one.close(), two.close()]);
    expect([one.path, two.path]).toEqual([join(directory, 'node-2.rec'), join(directory, 'node-3.rec')]);
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it('says at once where it cannot be', () => {
    expect(() => create({ path: join(directory, 'missing', 'node.rec') })).toThrow(/ENOENT.*missing\/node\.rec/);
  });

  it('is on the disk soon without being closed', async () => {
    const recording = create();
    recording.append('first');
    await expect.poll(() => read().lines, { timeout: 90_000 }).toEqual(['first']);
    recording.append('second');
    await expect.poll(() => read().lines, { timeout: 90_000 }).toEqual(['first', 'second']);
    await recording.close();
  });

  it('ends before it is too large, with a line and one warning that say so', async () => {
    const recording = create({ maxBytes: 100_000 });
    const sent: string[] = [];
    for (let index = 0; recording.isOpen(); index++) {
      const line = `${index} ${noise(1000)}`;
      sent.push(line);
      recording.append(line);
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    recording.append('too late');
    await recording.close();
    const { lines } = read();
    expect(lines.at(-1)).toBe('ended: it would be larger than 100000 bytes');
    expect(lines.slice(0, -1)).toEqual(sent.slice(0, lines.length - 1));
    expect(statSync(path).size).toBeLessThanOrEqual(100_000);
    expect(warnings).toEqual([
      'the recording has ended; the agent goes on without it: it would be larger than 100000 bytes',
    ]);
  });

  it('ends when too much waits for the disk', async () => {
    const recording = create({ maxWaiting: 10_000 });
    for (let index = 0; index < 100; index++) recording.append(noise(200));
    expect(recording.isOpen()).toBe(false);
    await recording.close();
    const { lines } = read();
    expect(lines).toHaveLength(45);
    expect(lines.at(-1)).toBe('ended: the disk is too slow for it');
    expect(warnings).toHaveLength(1);
  });
});

// Only root can make a disk that is small enough to be filled.
const PAGE_BYTES = 4_096;
const LAST_LINE_BYTES = 200;

describe.runIf(process.geteuid?.() === 0)('a recording on a full disk', () => {
  it('ends with a warning and keeps what was written', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]);
    try {
      const recording = create();
      recording.append('before');
      await expect.poll(() => read().lines, { timeout: 90_000 }).toEqual(['before']);
      while (recording.isOpen()) {
        recording.append(noise(2000) + String(Math.trunc(performance.now() * 1000)));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await recording.close();
      const { lines, tornBytes } = read();
      expect(lines[0]).toBe('before');
      // A disk is full by pages: where the last whole block ends just before the end of one, there is no room to say why.
      const room = (PAGE_BYTES - (statSync(recording.path).size % PAGE_BYTES)) % PAGE_BYTES;
      if (room >= LAST_LINE_BYTES) expect(lines.at(-1)).toMatch(/^ended: ENOSPC/);
      expect(lines.length).toBeGreaterThan(1);
      expect(tornBytes).toBe(0);
      expect(warnings).toHaveLength(1);
    } finally {
      execFileSync('umount', [directory]);
    }
  });
});

describe('a recording whose agent ends', () => {
  const start = (how = '') => spawn(process.execPath, [...node, path, how], { stdio: ['ignore', 'pipe', 'inherit'] });
  const numbers = () => read().lines.map((line) => Number(line.split(' ')[0]));

  it.each(['exit', 'close'])('by %s has every line', async (how) => {
    const writer = start(how);
    const [code] = (await once(writer, 'exit')) as [number];
    expect(code).toBe(0);
    expect(numbers()).toEqual(Array.from({ length: 20_000 }, (_, index) => index + 1));
    expect(read().tornBytes).toBe(0);
  });

  it('by a kill can be read up to its last whole block', async () => {
    const writer = start();
    await once(writer.stdout, 'data');
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    const found = numbers();
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(found.map((_, index) => index + 1));
  });
});

describe('a recording that is not as it was', () => {
  const blocks = async (count: number): Promise<number[]> => {
    const recording = create();
    const ends: number[] = [];
    // The header is a block of its own, which a thread writes.
    await expect.poll(() => statSync(path).size, { timeout: 90_000 }).toBeGreaterThan(0);
    for (let index = 0; index < count; index++) {
      const before = statSync(path).size;
      recording.append(`line ${index} ${noise(500)}`);
      await expect.poll(() => statSync(path).size, { timeout: 90_000 }).toBeGreaterThan(before);
      ends.push(statSync(path).size);
    }
    await recording.close();
    return ends;
  };
  const starts = (lines: readonly string[]) => lines.map((line) => line.slice(0, 6));

  it('ends before a torn block, wherever it was torn', async () => {
    const ends = await blocks(2);
    const whole = readFileSync(path);
    const [first = 0, second = 0] = ends;
    for (const size of [first + 1, first + 15, first + 19, first + 21, second - 9, second - 1]) {
      writeFileSync(path, whole.subarray(0, size));
      const { lines, tornBytes } = read();
      expect([starts(lines), tornBytes]).toEqual([['line 0'], size - first]);
    }
    truncateSync(path, first);
    appendFileSync(path, Buffer.alloc(5000));
    expect([starts(read().lines), read().tornBytes]).toEqual([['line 0'], 5000]);
  });

  it('says after which entry it is damaged', async () => {
    const [first = 0] = await blocks(2);
    const bytes = readFileSync(path);
    bytes[first - 20] = (bytes[first - 20] ?? 0) ^ 0xff;
    writeFileSync(path, bytes);
    expect(() => read()).toThrow(/node\.rec is damaged after entry 0: no whole block begins at byte \d+/);
  });

  it('says that it is damaged wherever one bit of it is another one', async () => {
    const ends = await blocks(2);
    const whole = readFileSync(path);
    const [first = 0] = ends;
    // From the end of the block with the header: what comes before says whether it is a recording at all.
    const begin = whole.readUInt32LE(16);
    for (let at = begin; at < whole.length; at += 7) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      writeFileSync(path, bytes);
      const isLast = at >= first;
      // Nothing behind the last block distinguishes a wrong length from a torn end.
      if (isLast && at < first + 20) continue;
      expect(() => read(), `byte ${at}`).toThrow(
        /node\.rec is damaged after entry [01]: no whole block begins at byte/,
      );
    }
  });

  it('takes for torn what a machine that went down has left as zeros', async () => {
    const [first = 0, second = 0] = await blocks(2);
    const whole = readFileSync(path);
    for (const from of [first + 20, first + 100, second - 8]) {
      writeFileSync(path, Buffer.concat([whole.subarray(0, from), Buffer.alloc(second - from)]));
      expect([starts(read().lines), read().tornBytes]).toEqual([['line 0'], second - first]);
    }
  });

  it('ends where another one begins, and says so', async () => {
    await blocks(1);
    const one = readFileSync(path);
    expect(secondFrom()).toBeUndefined();
    writeFileSync(path, Buffer.concat([one, one]));
    expect(starts(read().lines)).toEqual(['line 0']);
    expect(secondFrom()).toBe(2);
  });

  it.each([
    ['a text', 'no recording at all', 'is no recording: it does not begin with a block of one'],
    ['a short text', 'x', 'is no recording: it does not begin with a block of one'],
    ['nothing', '', 'has no complete block'],
  ])('says of %s that it is none', (_name, content, problem) => {
    writeFileSync(path, content);
    expect(() => read()).toThrow(`${path} ${problem}`);
  });

  it.each([
    ['not JSON', '{', /^entry 2 of .*node\.rec is not JSON: /],
    ['without a kind', '[]', /^entry 2 of .*node\.rec has no kind$/],
    ['of a kind from the future', '{"kind":"dream"}', /^entry 2 of .*node\.rec is of the unknown kind "dream"$/],
  ])('names an entry that is %s', async (_name, line, problem) => {
    const recording = createRecordingFile({ path, lastLine: lineOf, maxBytes: 2 ** 30, log });
    for (const one of [HEADER, lineOf('fine'), line]) recording.append(one);
    await recording.close();
    expect(() => read()).toThrow(problem);
  });

  it.each([
    ['another format', '{"kind":"recording","format":2}', 'is a recording of format 2; this version reads format 1'],
    ['no header', '{"kind":"cut"}', 'is no recording: its first entry is not the header of one'],
  ])('says of one with %s that it cannot be read', async (_name, line, problem) => {
    const recording = createRecordingFile({ path, lastLine: lineOf, maxBytes: 2 ** 30, log });
    recording.append(line);
    await recording.close();
    expect(() => read()).toThrow(`${path} ${problem}`);
  });

  it('says of a folder and of nothing that it is none', () => {
    expect(() => read(directory)).toThrow(`${directory} is no recording: it is not a file`);
    expect(() => read()).toThrow(/the recording cannot be read: ENOENT/);
    expect(readdirSync(directory)).toEqual([]);
  });
});

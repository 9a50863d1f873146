import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { lastValueFrom, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logFiles } from '../../../src/host/logs/log-files.js';

let directory: string;
const at = (name: string): string => join(directory, name);
const done = (what$: Observable<never>) => lastValueFrom(what$, { defaultValue: 'done' });
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rx-logs-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('does nothing before it is subscribed', async () => {
  writeFileSync(at('0.log'), 'text');
  logFiles.rename(at('0.log'), at('1.log'));
  logFiles.compress(at('0.log'));
  logFiles.remove(at('0.log'));
  expect(await lastValueFrom(logFiles.size(at('0.log')))).toBe(4n);
  expect(readdirSync(directory)).toEqual(['0.log']);
});

describe('the size of a log', () => {
  it('is there when the log is', async () => {
    writeFileSync(at('0.log'), 'x'.repeat(1000));
    expect(await lastValueFrom(logFiles.size(at('0.log')))).toBe(1000n);
    expect(await lastValueFrom(logFiles.size(at('1.log')))).toBeUndefined();
    expect(await lastValueFrom(logFiles.size(at('0.log/below')))).toBeUndefined();
  });
});

describe('rotated files', () => {
  it('are those whose name goes on after a dot', async () => {
    const rotated = ['0.log.20260101-000000', '0.log.20260102-000000.gz', '0.log.20260103-000000.tmp'];
    for (const name of [...rotated, '0.log', '10.log.20260101-000000', '0.logs']) writeFileSync(at(name), '');
    expect((await lastValueFrom(logFiles.rotated(at('0.log')))).toSorted()).toEqual(rotated.map(at));
    expect(await lastValueFrom(logFiles.rotated(at('none/0.log')))).toEqual([]);
  });

  it('files whose names are not UTF-8 are no rotated logs: a rotation would fail with them', async () => {
    for (const name of ['0.log', '0.log.20260101-000000', '0.log.\xff'])
      writeFileSync(Buffer.from(`${directory}/${name}`, 'latin1'), '');
    expect(await lastValueFrom(logFiles.rotated(at('0.log')))).toEqual([at('0.log.20260101-000000')]);
  });

  it('take the place of the log by a rename', async () => {
    writeFileSync(at('0.log'), 'text');
    await done(logFiles.rename(at('0.log'), at('0.log.1')));
    expect([existsSync(at('0.log')), readFileSync(at('0.log.1'), 'utf8')]).toEqual([false, 'text']);
    await expect(done(logFiles.rename(at('0.log'), at('0.log.2')))).rejects.toThrow(/ENOENT.*0\.log/);
  });

  it('go, and may be gone', async () => {
    writeFileSync(at('0.log'), '');
    await done(logFiles.remove(at('0.log')));
    await done(logFiles.remove(at('0.log')));
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('compressing', () => {
  it('replaces a file by what gzip reads, with the same mode', async () => {
    const text = Array.from({ length: 50_000 }, (_, line) => `line ${line}\n`).join('');
    writeFileSync(at('l'), text);
    chmodSync(at('l'), 0o640);
    await done(logFiles.compress(at('l')));
    expect(readdirSync(directory)).toEqual(['l.gz']);
    expect(gunzipSync(readFileSync(at('l.gz'))).toString()).toBe(text);
    expect(statSync(at('l.gz')).mode & 0o777).toBe(0o640);
    expect(statSync(at('l.gz')).size).toBeLessThan(text.length / 2);
  });

  it('replaces what an earlier attempt has left', async () => {
    writeFileSync(at('l'), 'text');
    writeFileSync(at('l.tmp'), 'something much longer than the text');
    await done(logFiles.compress(at('l')));
    expect(gunzipSync(readFileSync(at('l.gz'))).toString()).toBe('text');
    expect(readdirSync(directory)).toEqual(['l.gz']);
  });

  it('leaves the file and nothing else where it fails', async () => {
    writeFileSync(at('l'), 'text');
    // Nothing can take the place of a folder.
    mkdirSync(at('l.gz'));
    await expect(done(logFiles.compress(at('l')))).rejects.toThrow(/rename/);
    expect(readdirSync(directory)).toEqual(['l', 'l.gz']);
    expect(readFileSync(at('l'), 'utf8')).toBe('text');
    await expect(done(logFiles.compress(at('none')))).rejects.toThrow(/ENOENT.*none/);
  });
});

it("knows the node's time", () => {
  const summer = Date.UTC(2026, 6, 1);
  const { TZ } = process.env;
  try {
    process.env.TZ = 'Europe/Berlin';
    expect(logFiles.utcOffsetMinutes(summer)).toBe(120);
    process.env.TZ = 'America/St_Johns';
    expect(logFiles.utcOffsetMinutes(summer)).toBe(-150);
  } finally {
    process.env.TZ = TZ ?? '';
    if (TZ === undefined) delete process.env.TZ;
  }
});

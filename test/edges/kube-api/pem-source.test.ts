import { mkdtempSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type PemDisk, pemSource } from '../../../src/kube-api/pem-source.js';

const HOUR_MS = 3_600_000;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rx-kubelet-pem-'));
  file = join(folder, 'client.pem');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('sees a second write of the same size that no time of the file shows', () => {
  // Neither the clock nor that of the file system ticks.
  const times = { mtimeNs: 999_999_000_000n, ctimeNs: 999_999_000_000n, ctimeMs: 999_999n };
  const frozen: PemDisk = {
    now: () => 1_000_000,
    stat: (path) => Object.assign(statSync(path, { bigint: true }), times),
  };
  const read = pemSource({ file }, frozen);
  for (const text of ['one', 'two']) {
    writeFileSync(file, text);
    expect(read()).toBe(text);
  }
});

it('sees a write of the same size whose time was set back, and another file of the same time', () => {
  const read = pemSource(
    { file },
    { now: () => Date.now() + HOUR_MS, stat: (path) => statSync(path, { bigint: true }) },
  );
  writeFileSync(file, 'one');
  utimesSync(file, 1, 1);
  expect(read()).toBe('one');
  writeFileSync(file, 'two');
  utimesSync(file, 1, 1);
  expect(read()).toBe('two');
  writeFileSync(`${file}.next`, 'six');
  symlinkSync(`${file}.next`, `${file}.link`);
  utimesSync(file, 1, 1);
  renameSync(`${file}.link`, file);
  expect(read()).toBe('six');
});

it('reads an old file that has not changed only once', () => {
  writeFileSync(file, 'one');
  const { mode, ino, dev, size } = statSync(file, { bigint: true });
  const old = { mode, ino, dev, size, mtimeNs: 5n, ctimeNs: 5n, ctimeMs: 0n };
  const read = pemSource({ file }, { now: () => HOUR_MS, stat: () => old });
  expect(read()).toBe('one');
  writeFileSync(file, 'two');
  expect(read()).toBe('one');
});

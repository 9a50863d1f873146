import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { probeRecordFiles } from '../../../src/host/files/probe-record-files.js';
import type { ProbeRecord } from '../../../src/model/probes/probe-record.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'probe-records-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const record: ProbeRecord = { type: 'readiness', uid: 'u', container: 'main', containerId: 'c', result: 'success' };
const stage = (directory = root) => {
  const warnings: object[] = [];
  const files = probeRecordFiles(directory, { warn: (fields) => warnings.push(fields) });
  return {
    warnings,
    read: () => lastValueFrom(files.read()),
    write: (records: readonly ProbeRecord[]) => lastValueFrom(files.write(records), { defaultValue: undefined }),
  };
};
const path = () => join(root, 'probe-results.json');

it('gives a later agent what was written last', async () => {
  await stage().write([record, { ...record, containerId: 'd' }]);
  await stage().write([record]);
  expect(await stage().read()).toEqual([record]);
});

it('makes the directory, and replaces the file as a whole', async () => {
  const directory = join(root, 'new');
  await stage(directory).write([record]);
  const file = join(directory, 'probe-results.json');
  const before = statSync(file).ino;
  await stage(directory).write([]);
  expect(statSync(file).ino).not.toBe(before);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['probe-results.json']);
  expect(readFileSync(file, 'utf8')).toBe('[]\n');
});

it('has nothing where nothing was written', async () => {
  expect(await stage().read()).toEqual([]);
});

it('leaves out what is no record, and says so', async () => {
  writeFileSync(path(), JSON.stringify([record, 7, { ...record, result: 'maybe' }]));
  const { read, warnings } = stage();
  expect(await read()).toEqual([record]);
  expect(warnings).toEqual([{ path: path(), ignored: 2 }]);
});

it.each(['{"half', '', 'null', '"text"'])('names the file that holds %j', async (text) => {
  writeFileSync(path(), text);
  await expect(stage().read()).rejects.toThrow(path());
});

it('errors when it cannot write', async () => {
  writeFileSync(path(), '');
  await expect(stage(path()).write([record])).rejects.toThrow('probe-results.json');
});

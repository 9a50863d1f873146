import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { markFormat, requireFormat, STATE_FORMAT } from '../../../src/processes/state-format.js';

let directory: string;
const file = (): string => join(directory, 'format.json');
const warnings: unknown[] = [];
const log = { warn: (fields: object, message: string) => warnings.push([message, fields]) };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'state-format-'));
  warnings.length = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('the format of files of an agent', () => {
  it.each([
    ['is missing, as with the first versions', undefined],
    ['is that of this version', JSON.stringify({ format: STATE_FORMAT, version: '7.0.0' })],
    ['was cut off', '{"form'],
    ['is null', 'null'],
  ])('is accepted where it %s', (_, text) => {
    if (text !== undefined) writeFileSync(file(), text);
    requireFormat(directory);
  });

  it('is refused where it is a later one, with the version that wrote it', () => {
    writeFileSync(file(), JSON.stringify({ format: STATE_FORMAT + 1, version: '7.0.0' }));
    expect(() => requireFormat(directory)).toThrow(
      `${directory} was written by rx-kubelet 7.0.0 in format ${STATE_FORMAT + 1}, and this version reads formats up to ${STATE_FORMAT}: run version 7.0.0 or a later one, or choose another folder`,
    );
  });

  it('is written once, and again by the next format', () => {
    markFormat(directory, '1.0.0', log);
    markFormat(directory, '1.0.1', log);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ format: STATE_FORMAT, version: '1.0.0' });
    writeFileSync(file(), JSON.stringify({ format: STATE_FORMAT - 1, version: '0.1.0' }));
    markFormat(directory, '1.0.1', log);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ format: STATE_FORMAT, version: '1.0.1' });
    expect(warnings).toEqual([]);
  });

  it('is a warning where it cannot be written', () => {
    rmSync(directory, { recursive: true });
    markFormat(directory, '1.0.0', log);
    expect(warnings).toMatchObject([
      ['the format of the files could not be written', { file: file(), error: { code: 'ENOENT' } }],
    ]);
  });
});

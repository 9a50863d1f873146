import { describe, expect, it } from 'vitest';
import { cleanPayload, payloadPathProblem } from '../../../src/model/volumes/payload-path.js';

const FILE = { data: new Uint8Array(), mode: 0o644 };
const clean = (...paths: string[]) => [...cleanPayload(new Map(paths.map((path) => [path, FILE]))).keys()];

describe('the path of a file in a volume', () => {
  it.each(['a', 'a/b', '.a', 'a/..b', 'a/...', 'x'.repeat(255)])('%s is valid', (path) =>
    expect(payloadPathProblem(path)).toBeUndefined(),
  );

  it.each([
    ['', 'must not be empty: ""'],
    ['/a', 'must be relative path: /a'],
    ['..', "must not contain '..': .."],
    ['a/../b', "must not contain '..': a/../b"],
    ['..data', "must not start with '..': ..data"],
    ['./..data/a', "must not start with '..': ./..data/a"],
    ['...', "must not start with '..': ..."],
    ['x'.repeat(256), 'filenames must be less than or equal to 255 characters'],
    ['é'.repeat(128), 'filenames must be less than or equal to 255 characters'],
    ['a/'.repeat(2049), 'must be less than or equal to 4096 characters'],
    ['a\0b', 'must not contain a NUL character'],
  ])('%j is refused', (path, problem) => {
    expect(payloadPathProblem(path)).toBe(problem);
    expect(() => clean('fine', path)).toThrow(`invalid path: ${problem}`);
  });

  it('is cleaned', () => expect(clean('./a//b/', 'c')).toEqual(['a/b', 'c']));

  it.each([
    [['a', 'a/b'], 'a/b is both'],
    [['.'], '. is both'],
  ])('%j is not a file and a directory at once', (paths, text) => {
    expect(() => clean(...paths)).toThrow(`invalid path: ${text} a file and a directory`);
  });
});

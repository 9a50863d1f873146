import { expect, it } from 'vitest';
import { bytePath, callError, osPath, shownPath } from '../../../src/processes/byte-path.js';

it.each([
  ['/tmp/a b', '"/tmp/a b"'],
  [bytePath('/tmp/ä'), '"/tmp/ä"'],
  ['/tmp/f\xe9', '"/tmp/f\\xe9"'],
  [`${bytePath('ä')}\xff\n`, '"\\xc3\\xa4\\xff\\n"'],
])('the path %j is shown as %s', (path, shown) => {
  expect(shownPath(path)).toBe(shown);
});

it('a path of text has the bytes of its UTF-8', () => {
  expect(osPath(bytePath('日本')).toString()).toBe('日本');
});

it.each([
  [Object.assign(new Error("ENOENT: no such file or directory, lstat 'a\uFFFD'"), { code: 'ENOENT' })],
  [new Error('ENOENT: no such file or directory, lstat')],
])('the error of a call has no path', (error) => {
  expect(callError(error)).toBe('ENOENT: no such file or directory, lstat');
});

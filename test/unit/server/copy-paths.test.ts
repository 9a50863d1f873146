import { describe, expect, it } from 'vitest';
import { baseName, copyRequest, entryPath, tarOperand, uploadPlace } from '../../../src/model/server/copy-paths.js';

describe('the operands of cp', () => {
  it.each([
    ['web:/a', 'b', { kind: 'from-pod', pod: { pod: 'web', path: '/a' }, local: 'b' }],
    ['ns/web:a:b', '/x', { kind: 'from-pod', pod: { namespace: 'ns', pod: 'web', path: 'a:b' }, local: '/x' }],
    ['./a:b', 'web:c', { kind: 'to-pod', pod: { pod: 'web', path: 'c' }, local: './a:b' }],
  ])('%s %s', (source, target, expected) => {
    expect(copyRequest(source, target)).toEqual(expected);
  });

  const FORMAT = 'filespec must match the canonical format: [[namespace/]pod:]file/path';
  it.each([
    ['a:b', 'c:d', 'one of src or dest must be a local file specification'],
    ['a', 'b', 'one of src or dest must be a remote file specification'],
    ['web:', 'b', 'filepath can not be empty'],
    [':a', 'b', FORMAT],
    ['a/b/c:d', 'b', FORMAT],
    ['a/:d', 'b', FORMAT],
    ['web:/f\uFFFD', 'b', 'the path "web:/f\uFFFD" is not UTF-8 (expected one that is; copy the folder around it)'],
    ['f\uFFFD', 'web:b', 'the path "f\uFFFD" is not UTF-8 (expected one that is; copy the folder around it)'],
  ])('%s %s are refused', (source, target, message) => {
    expect(() => copyRequest(source, target)).toThrow(new Error(message));
  });
});

describe('the place of an upload', () => {
  it.each([
    ['/tmp/x', 'y', false, { folder: '/tmp', name: 'x', isThere: false }],
    ['/tmp', '/a/y/', true, { folder: '/tmp', name: 'y', isThere: false }],
    ['/tmp/', '.', true, { folder: '/', name: 'tmp', isThere: true }],
    ['/tmp/x', '/', true, { folder: '/tmp', name: 'x', isThere: true }],
    ['/tmp/x', '.', false, { folder: '/tmp', name: 'x', isThere: false }],
    ['x', 'y', false, { folder: '.', name: 'x', isThere: false }],
    ['/', 'y', true, { folder: '/', name: 'y', isThere: false }],
  ])('%s of %s, a folder: %s', (path, source, isFolder, expected) => {
    expect(uploadPlace(path, source, isFolder)).toEqual(expected);
  });
});

it.each([
  ['--checkpoint-action=exec=id', './--checkpoint-action=exec=id'],
  ['-', './-'],
  ['a-b', 'a-b'],
  ['/-x', '/-x'],
])('the path %s is no option of tar', (path, operand) => {
  expect(tarOperand(path)).toBe(operand);
});

describe('the path of an entry', () => {
  it.each([
    ['./-S', '-S', ''],
    ['./-S/a', '-S/', '/a'],
    ['var/log/a', '/var/log', '/a'],
    ['var/log/', '/var/log/', ''],
    ['./a/b', '.', '/a/b'],
    ['./', '.', ''],
    ['x/a', '../../x', '/a'],
    ['var/log/../../etc/passwd', '/var/log', undefined],
    ['../var/log', '/var/log', undefined],
    ['etc', '/', '/etc'],
  ])('%s of %s', (entry, copied, expected) => {
    expect(entryPath(entry, copied)).toBe(expected);
  });

  it('is below the copied path', () => {
    expect(() => entryPath('var/logs', '/var/log')).toThrow(new Error('tar contents corrupted'));
  });

  it('has a last part', () => {
    expect([baseName('/a/b/'), baseName('b'), baseName('/')]).toEqual(['b', 'b', '/']);
  });
});

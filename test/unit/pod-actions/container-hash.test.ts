import { describe, expect, it } from 'vitest';
import { containerHash, isSameHash } from '../../../src/model/pod-actions/container-hash.js';
import { fnv1a32 } from '../../../src/model/values/fnv.js';

describe('containerHash', () => {
  it('gives the value that the kubelet writes into annotations', () => {
    expect(containerHash({ name: 'test_container', image: 'foo/image:v1' })).toBe('8e45cbd0');
  });

  it.each([
    ['another name', { name: 'web', image: 'nginx' }, { name: 'web2', image: 'nginx' }],
    ['another image', { name: 'web', image: 'nginx:1' }, { name: 'web', image: 'nginx:2' }],
    ['the two swapped', { name: 'a', image: 'b' }, { name: 'b', image: 'a' }],
  ])('differs for %s', (_, left, right) => {
    expect(containerHash(left)).not.toBe(containerHash(right));
  });

  it('ignores everything but name and image', () => {
    const plain = { name: 'web', image: 'nginx' };
    const edited = { ...plain, command: ['other'], env: [{ name: 'A', value: '1' }] };
    expect(containerHash(edited)).toBe(containerHash(plain));
  });

  it('escapes HTML characters as the JSON encoder of Go does', () => {
    const bytes = [...String.raw`{"image":"a\u003cb\u003e\u0026","name":"n"}`].map((c) => c.charCodeAt(0)).join(' ');
    expect(containerHash({ name: 'n', image: 'a<b>&' })).toBe(fnv1a32(`([]uint8)[${bytes}]`).toString(16));
  });
});

describe('isSameHash', () => {
  it.each([
    ['8e45cbd0', '8e45cbd0', true],
    ['08e45cbd', '8e45cbd', true],
    ['8E45CBD0', '8e45cbd0', true],
    ['', '8e45cbd0', false],
    ['no hex', '8e45cbd0', false],
  ])('%j and %j: %s', (left, right, same) => {
    expect(isSameHash(left, right)).toBe(same);
  });
});

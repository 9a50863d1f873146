import { expect, it } from 'vitest';
import { bitString, certificationRequestInfo, type Der, oid, sequence } from '../../../src/model/certificates/der.js';

const hex = (der: Der): string => Buffer.from(der).toString('hex');

it.each([
  ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
  ['2.5.4.10', '060355040a'],
  ['1.2.840.113549.1.1.11', '06092a864886f70d01010b'],
])('the identifier %s', (dotted, expected) => {
  expect(hex(oid(dotted))).toBe(expected);
});

it.each([
  [0, '3000'],
  [127, '307f'],
  [128, '308180'],
  [255, '3081ff'],
  [256, '30820100'],
  [65_536, '3083010000'],
])('a sequence of %i bytes begins with its length', (length, expected) => {
  const der = sequence(new Uint8Array(length));
  expect(hex(der.subarray(0, expected.length / 2))).toBe(expected);
  expect(der.length).toBe(expected.length / 2 + length);
});

it('bits come after the number of those that are not used', () => {
  expect(hex(bitString(Uint8Array.of(1, 2)))).toBe('0303000102');
});

it('a request has version 0, organizations before the name, the key and no attributes', () => {
  const info = certificationRequestInfo({ commonName: 'a:b', organizations: ['o_o'] }, Uint8Array.of(5, 0));
  const names = ['310c300a060355040a0c036f5f6f', '310c300a06035504031303613a62'];
  expect(hex(info)).toBe(['3025', '020100', '301c', ...names, '0500', 'a000'].join(''));
});

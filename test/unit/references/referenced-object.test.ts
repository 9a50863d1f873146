import { describe, expect, it } from 'vitest';
import { isImmutable, secretData } from '../../../src/model/references/referenced-object.js';

describe('a secret', () => {
  it.each<[what: string, data: Readonly<Record<string, string>> | undefined, expected: object]>([
    [
      'is decoded',
      { a: btoa('plain'), b: Buffer.from('größe').toString('base64'), c: '' },
      { a: 'plain', b: 'größe', c: '' },
    ],
    ['loses bytes that are no text', { a: Buffer.from([0x61, 0xff, 0x62]).toString('base64') }, { a: 'a\ufffdb' }],
    ['may hold nothing', undefined, {}],
  ])('%s', (_, data, expected) => {
    expect(secretData({ metadata: {}, ...(data && { data }) })).toEqual(expected);
  });
});

it('an object may be changed unless it says otherwise', () => {
  expect([undefined, false, true].map((immutable) => isImmutable({ metadata: {}, immutable }))).toEqual([
    false,
    false,
    true,
  ]);
});

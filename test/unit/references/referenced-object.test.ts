import { describe, expect, it } from 'vitest';
import { isImmutable, secretData, secretTexts } from '../../../src/model/references/referenced-object.js';

describe('a secret', () => {
  it.each<[what: string, data: Readonly<Record<string, string>> | undefined, expected: object]>([
    [
      'is decoded',
      { a: btoa('plain'), b: Buffer.from('größe').toString('base64'), c: '' },
      { a: 'plain', b: 'größe', c: '' },
    ],
    ['keeps bytes that are no text', { a: '//79' }, { a: Buffer.from([0xff, 0xfe, 0xfd]) }],
    ['may hold nothing', undefined, {}],
  ])('%s', (_, data, expected) => {
    expect(secretData({ metadata: {}, ...(data && { data }) })).toEqual(expected);
  });

  it('has replacements for bytes that are no text only as a text', () => {
    expect(secretTexts({ metadata: {}, data: { a: Buffer.from([0x61, 0xff, 0x62]).toString('base64') } })).toEqual({
      a: 'a\ufffdb',
    });
  });
});

it('an object may be changed unless it says otherwise', () => {
  expect([undefined, false, true].map((immutable) => isImmutable({ metadata: {}, immutable }))).toEqual([
    false,
    false,
    true,
  ]);
});

import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { jsonLines } from '../../../src/kube-api/json-lines.js';

/** What comes of the bytes when they are cut at these places. */
const taken = (bytes: Buffer, cuts: readonly number[]) => {
  const lines = jsonLines();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const found = places.slice(1).flatMap((end, index) => lines.push(bytes.subarray(places[index], end)));
  return { found, rest: lines.rest() };
};

test.prop([fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat())])(
  'wherever it is cut, lines stay whole',
  (texts, cuts) => {
    const lines = texts.map((text) => JSON.stringify({ text }));
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    expect(taken(bytes, cuts)).toEqual({ found: lines, rest: '' });
  },
);

it('a line without an end is the rest, also with half a character', () => {
  const bytes = Buffer.from('{"a":1}\n\n\r\n{"b":"ü');
  expect(taken(bytes, [])).toEqual({ found: ['{"a":1}'], rest: '{"b":"ü' });
  expect(taken(bytes.subarray(0, -1), [])).toEqual({ found: ['{"a":1}'], rest: '{"b":"\ufffd' });
});

it.each([[[9]], [[3, 7]], [[4, 4, 4]]])(
  'a line that is too long is an error as soon as it is, in parts %j too',
  (parts) => {
    const lines = jsonLines(8);
    const push = () => parts.forEach((length) => lines.push(Buffer.alloc(length, 'x')));
    expect(push).toThrow(/^a line is longer than/);
  },
);

it('only the longest line counts', () => {
  const lines = jsonLines(8);
  expect(lines.push(Buffer.from('12345678\n12345678\n1234'))).toEqual(['12345678', '12345678']);
  expect(lines.push(Buffer.from('5678\n'))).toEqual(['12345678']);
});

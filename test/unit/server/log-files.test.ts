import { describe, expect, it } from 'vitest';
import { byteRange } from '../../../src/model/server/byte-range.js';
import { directoryPage } from '../../../src/model/server/directory-page.js';

describe('the range of a request', () => {
  const part = (first: number, last: number) => ({ kind: 'part', first, last });
  const [whole, unsatisfiable] = [{ kind: 'whole' }, { kind: 'unsatisfiable' }];

  it.each([
    [undefined, 10, whole],
    ['bytes=0-3', 10, part(0, 3)],
    ['bytes=4-', 10, part(4, 9)],
    ['bytes=-3', 10, part(7, 9)],
    ['bytes=-30', 10, part(0, 9)],
    ['bytes= 2 - 99', 10, part(2, 9)],
    ['bytes=9-9', 10, part(9, 9)],
    ['bytes=10-', 10, unsatisfiable],
    ['bytes=-0', 10, unsatisfiable],
    ['bytes=0-', 0, unsatisfiable],
    ['bytes=3-2', 10, whole],
    ['bytes=-', 10, whole],
    ['bytes=0-1,3-4', 10, whole],
    ['lines=0-1', 10, whole],
    ['bytes=a-b', 10, whole],
  ])('%s of %i bytes', (header, size, expected) => {
    expect(byteRange(header, size)).toEqual(expected);
  });
});

it('the page of a folder is sorted, and its names are no markup', () => {
  expect(directoryPage(['syslog', 'pods/', '<b>"&', 'a b', 'a:b'])).toBe(
    [
      '<!doctype html>',
      '<meta name="viewport" content="width=device-width">',
      '<pre>',
      '<a href="%3Cb%3E%22%26">&lt;b&gt;&#34;&amp;</a>',
      '<a href="a%20b">a b</a>',
      '<a href="a%3Ab">a:b</a>',
      '<a href="pods/">pods/</a>',
      '<a href="syslog">syslog</a>',
      '</pre>',
      '',
    ].join('\n'),
  );
});

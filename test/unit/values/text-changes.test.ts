import { expect, it } from 'vitest';
import { textChanges } from '../../../src/model/values/text-changes.js';

it.each<readonly [string, readonly string[], readonly string[], readonly string[], readonly string[]]>([
  ['two empty lists have no difference', [], [], [], []],
  ['all texts of a first list are added', [], ['b', 'a'], ['b', 'a'], []],
  ['texts that both lists have are no difference, in any order', ['a', 'b'], ['b', 'a'], [], []],
  ['a text can be added while another is removed', ['a', 'b'], ['b', 'c'], ['c'], ['a']],
  ['all texts of a last list are removed', ['b', 'a'], [], [], ['b', 'a']],
])('%s', (_, before, after, added, removed) => expect(textChanges(before, after)).toEqual({ added, removed }));

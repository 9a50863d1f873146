import { expect, it } from 'vitest';
import { namesOfOthers } from '../../../src/model/pod/pod-paths.js';

const containers = [{ id: 'a' }, { id: 'b/c' }];

it.each([
  { case: 'the mark of a container is its own', names: ['a', 'b%2Fc'], others: [] },
  { case: 'a mark of no container belongs to another one', names: ['a', 'x', 'y'], others: ['x', 'y'] },
  { case: 'a mark has the name of the directory of an id, not the id', names: ['b/c'], others: ['b/c'] },
  { case: 'an empty directory has no marks of others', names: [], others: [] },
])('$case', ({ names, others }) => {
  expect(namesOfOthers(names, containers)).toEqual(others);
});

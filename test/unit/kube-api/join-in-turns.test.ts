import { expect, it } from 'vitest';
import { joinInTurns } from '../../../src/kube-api/join-in-turns.js';

const chunksOf = (count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, index) => Buffer.alloc(10, index));

it.each([0, 1, 10, 95])('makes one buffer of %d', async (count) => {
  const chunks = chunksOf(count);
  expect(await joinInTurns(chunks, 100)).toEqual(Buffer.concat(chunks));
});

it('gives the loop a turn after each part of a large one', async () => {
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await joinInTurns(chunksOf(95), 100);
  isDone = true;
  expect(turns).toBeGreaterThanOrEqual(9);
});

import { Map as ImmutableMap } from 'immutable';
import { expect, it } from 'vitest';
import {
  type PodTokens,
  timeForToken,
  tokenAnswered,
  tokenIssued,
  withoutExpiredTokens,
  withoutTokensOf,
} from '../../../src/model/references/pod-tokens.js';

const NONE: PodTokens = ImmutableMap();
/** A token that is issued at 1,000 and ends at 2,000, and was received at 50 of the scheduler. */
const held = { issued: { token: 't', expiresAt: 2_000, lifetimeMs: 1_000 }, receivedAt: 50 };

it.each<[title: string, wallClock: number, now: number, expected: number]>([
  ['its own time, where the clock is right', 1_200, 250, 1_200],
  ['the clock, where that is ahead', 1_900, 250, 1_900],
  ['the time since its receipt, where the clock is behind', 3, 250, 1_200],
])('the time for a token is %s', (_, wallClock, now, expected) => {
  expect(timeForToken(held, { wallClock, now })).toBe(expected);
});

const [ofP, ofQ] = [
  { podUid: 'p', held },
  { podUid: 'q', held },
];
const ofBoth = tokenIssued(tokenIssued(NONE, 'a', 'p', held), 'b', 'q', held);

it.each<[title: string, tokens: PodTokens, expected: object]>([
  ['an answer gives a purpose an entry', tokenAnswered(NONE, 'a', 'p'), { a: { podUid: 'p' } }],
  ['an answer keeps the token of before', tokenAnswered(ofBoth, 'a', 'p'), { a: ofP, b: ofQ }],
  ['a token is kept at its end', withoutExpiredTokens(ofBoth, { wallClock: 2_000, now: 50 }), { a: ofP, b: ofQ }],
  [
    'an expired token leaves the entry of its purpose',
    withoutExpiredTokens(ofBoth, { wallClock: 2_001, now: 50 }),
    { a: { podUid: 'p' }, b: { podUid: 'q' } },
  ],
  [
    'a token expires in time where the clock is behind',
    withoutExpiredTokens(ofBoth, { wallClock: 3, now: 1_051 }),
    { a: { podUid: 'p' }, b: { podUid: 'q' } },
  ],
  ['all tokens of a pod are dropped together', withoutTokensOf(ofBoth, 'q'), { a: ofP }],
])('%s', (_, tokens, expected) => {
  expect(Object.fromEntries(tokens)).toEqual(expected);
});

it('a pod without tokens changes nothing', () => {
  expect(withoutTokensOf(ofBoth, 'other')).toBe(ofBoth);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Behaviour, playHistory, type Step, type Uid, UIDS } from '../../support/worker-history.js';

const longOrShort = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 3 }) },
  { weight: 1, arbitrary: fc.nat({ max: 30 }) },
);
const grace = fc.constantFrom(0, 1, 5, 20, 60);
/** Any step about one of `uids`, `gap` after the one before. */
const stepOf = (uids: readonly Uid[], gap: fc.Arbitrary<number>): fc.Arbitrary<Step> => {
  const uid = fc.constantFrom(...uids);
  return fc.oneof(
    fc.record({ gap, does: fc.constantFrom('create' as const, 'update' as const, 'sync' as const), uid }),
    fc.record({ gap, does: fc.constantFrom('create' as const, 'remove' as const), uid }),
    fc.record({ gap, does: fc.constantFrom('end' as const, 'orphan' as const), uid }),
    fc.record({
      gap,
      does: fc.constant('kill' as const),
      uid,
      grace: fc.option(grace, { nil: undefined }),
      evict: fc.boolean(),
    }),
    fc.record({ gap, does: fc.constant('delete' as const), uid, grace }),
    fc.record({ gap, does: fc.constant('pass' as const) }),
  );
};
const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  look: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
  unreadable: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  works: fc.option(fc.nat({ max: 12 }), { nil: undefined }),
  ends: fc.oneof(
    { weight: 4, arbitrary: fc.constant('well' as const) },
    { weight: 1, arbitrary: fc.constant('badly' as const) },
    { weight: 1, arbitrary: fc.constant('terminal' as const) },
  ),
  letsGo: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
});
const behaviours = fc.array(behaviour, { maxLength: 25 });

/** What went wrong, with all that led to it: a history that fails is read, not guessed. */
const faults = (steps: readonly Step[], runs: readonly Behaviour[]): string => {
  const { violations, timeline } = playHistory(steps, runs);
  return violations.length === 0 ? '' : `${timeline.join('\n')}\n\n${violations.join('\n')}`;
};

// What is promised, and watched by `playHistory`: one run of a pod at a time; no sync after a termination was acknowledged;
// a grace period never grows; the newest update is the last one taken; static pods of one name exclude each other and none
// is left waiting for a name that is free; a cancel reaches the run in flight and no other; and once no source wants a pod any
// more, nothing of it is left, neither record nor name nor subscription.
describe('the workers keep all of their promises', () => {
  it('over any history', () => {
    const steps = fc.array(stepOf(UIDS, longOrShort), { maxLength: 25 });
    fc.assert(
      fc.property(steps, behaviours, (history, runs) => {
        expect(faults(history, runs)).toBe('');
      }),
      { numRuns: 1500 },
    );
  });

  it('where static pods of one name crowd into the same milliseconds', () => {
    const statics = ['s1', 's2', 's3'] as const;
    const arrivals = statics.map((uid): Step => ({ gap: 0, does: 'create', uid }));
    const step = fc.record({
      gap: fc.nat({ max: 3 }),
      does: fc.constantFrom('create' as const, 'kill' as const, 'remove' as const, 'pass' as const),
      uid: fc.constantFrom(...statics),
    });
    const steps = fc.array(step, { maxLength: 12 }).map((rest) => [...arrivals, ...rest]);
    fc.assert(
      fc.property(steps, behaviours, (history, runs) => {
        expect(faults(history, runs)).toBe('');
      }),
      { numRuns: 1500 },
    );
  });
});

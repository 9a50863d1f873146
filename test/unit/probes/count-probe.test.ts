import { describe, expect, it } from 'vitest';
import { countProbe } from '../../../src/model/probes/count-probe.js';
import { NEW_PROBE_WORKER } from '../../../src/model/probes/probe-turn.js';
import type { ProbeType } from '../../../src/model/probes/probe-worker.js';
import { aProbeWorker } from '../../support/a-probe.js';

/** `s`uccesses and `f`ailures, and under each what it leads to: a verdict (`S`, `F`), and `!` when that is the last word. */
const play = (
  type: ProbeType,
  thresholds: { successThreshold: number; failureThreshold: number },
  outcomes: string,
) => {
  const worker = aProbeWorker(type, thresholds);
  let state = NEW_PROBE_WORKER;
  const said = [...outcomes].map((outcome) => {
    const counted = countProbe(worker, { ...state, isOnHold: false }, outcome === 's' ? 'success' : 'failure');
    state = counted.state;
    const verdict = counted.verdict === undefined ? '-' : counted.verdict === 'success' ? 'S' : 'F';
    return state.isOnHold ? `${verdict}!` : verdict;
  });
  return { said: said.join(''), state };
};

describe('outcomes in a row', () => {
  it.each([
    ['readiness', 1, 3, 'ssfsfff', 'SS-S--F'],
    ['readiness', 1, 1, 'sfsf', 'SFSF'],
    ['readiness', 3, 1, 'fsssfss', 'F--SF--'],
    ['readiness', 2, 2, 'sfsfssff', '-----S-F'],
    ['liveness', 1, 3, 'sffsfff', 'S--S--F!'],
    ['liveness', 1, 1, 'f', 'F!'],
    ['startup', 1, 3, 'ffs', '--S!'],
    ['startup', 1, 3, 'fff', '--F!'],
  ] as const)(
    'of a %s probe with thresholds %i and %i: %s leads to %s',
    (type, successThreshold, failureThreshold, outcomes, said) => {
      expect(play(type, { successThreshold, failureThreshold }, outcomes).said).toBe(said);
    },
  );

  it('are counted from zero after the last word', () => {
    expect(play('liveness', { successThreshold: 1, failureThreshold: 3 }, 'fff').state.runLength).toBe(0);
  });

  it('need two successes where two are wanted, though a worker begins as after a success', () => {
    expect(play('readiness', { successThreshold: 2, failureThreshold: 1 }, 'ss').said).toBe('-S');
  });

  it.each([
    ['s', true],
    ['fs', true],
    ['ff', false],
  ])('%s: has succeeded is %s', (outcomes, hasSucceeded) => {
    expect(play('readiness', { successThreshold: 1, failureThreshold: 1 }, outcomes).state.hasSucceeded).toBe(
      hasSucceeded,
    );
  });
});

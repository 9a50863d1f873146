import { describe, expect, it } from 'vitest';
import { initialState, podWithStatus } from '../../../src/model/node-state/node-state.js';
import { reduce } from '../../../src/model/node-state/reduce.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { aPod } from '../../support/a-pod.js';

const statusOf = (phase: string): StateChange => ({ kind: 'status', uid: 'uid-1', status: { phase } });
const SET: StateChange = { kind: 'pod-set', pod: aPod() };
const RUNNING = statusOf('Running');
const REJECTED: StateChange = { kind: 'admission-decided', uid: 'uid-1', isAdmitted: false };

describe('a pod with its status', () => {
  it('is the same object for as long as neither changes', () => {
    const one = [SET, RUNNING].reduce(reduce, initialState());
    const shown = podWithStatus(one, 'uid-1');
    expect(shown?.status).toEqual({ phase: 'Running' });
    expect(podWithStatus(reduce(one, REJECTED), 'uid-1')).toBe(shown);
    expect(podWithStatus(reduce(one, statusOf('Failed')), 'uid-1')?.status).toEqual({ phase: 'Failed' });
    expect(podWithStatus(one, 'other')).toBeUndefined();
  });

  it('has that of its source until this node has one', () => {
    const fromSource = aPod({ phase: 'Pending' });
    expect(podWithStatus(reduce(initialState(), { kind: 'pod-set', pod: fromSource }), 'uid-1')).toBe(fromSource);
  });
});

import { expect, it } from 'vitest';
import {
  NO_PREEMPTIONS,
  type Preemptions,
  retainPreemptions,
  withoutPreemption,
  withoutRoomWait,
  withRoomWait,
} from '../../../src/model/admission/preemptions.js';
import { aPod } from '../../support/a-pod.js';

const [big, small] = [aPod({ uid: 'big' }), aPod({ uid: 'small' })];
const made = withRoomWait(NO_PREEMPTIONS, 'dns', { victims: ['small'], pods: [big, small], since: 5 });

const plain = ({ victims, waits }: Preemptions) => ({
  victims: [...victims],
  waits: [...waits].map(([uid, { pods, since }]) => `${uid} for ${pods.length} since ${since}`),
});

it('several pods wait for the same ones, each since its own admission', () => {
  const both = withRoomWait(made, 'log', { victims: [], pods: [small], since: 6 });
  expect(plain(both)).toEqual({ victims: ['small'], waits: ['dns for 2 since 5', 'log for 1 since 6'] });
  expect(plain(withoutRoomWait(both, 'dns')).waits).toEqual(['log for 1 since 6']);
});

it('a pod that was stopped for another one and begins a new life is an ordinary pod again', () => {
  expect(plain(withoutPreemption(made, 'small')).victims).toEqual([]);
  expect(plain(withoutPreemption(made, 'dns')).waits).toEqual([]);
});

it('what is about pods that are gone is dropped', () => {
  expect(plain(retainPreemptions(made, new Set(['dns'])))).toEqual({ victims: [], waits: ['dns for 2 since 5'] });
  expect(plain(retainPreemptions(made, new Set()))).toEqual({ victims: [], waits: [] });
});

it('a change that says nothing new leaves the same value', () => {
  expect(withoutRoomWait(made, 'web')).toBe(made);
  expect(withoutPreemption(made, 'web')).toBe(made);
  expect(retainPreemptions(made, new Set(['dns', 'small']))).toBe(made);
});

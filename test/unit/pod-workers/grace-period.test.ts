import { expect, it } from 'vitest';
import { effectiveGracePeriod } from '../../../src/model/pod-workers/grace-period.js';
import { aPod } from '../../support/a-pod.js';

const spec30 = aPod();
const deletedWith = (deletionGracePeriodSeconds: number) => aPod({ deletionGracePeriodSeconds });

it.each([
  {
    case: 'first termination takes the spec',
    current: 0,
    pod: spec30,
    override: undefined,
    seconds: 30,
    shortened: false,
  },
  {
    case: 'an API deletion brings its own',
    current: 0,
    pod: deletedWith(10),
    override: undefined,
    seconds: 10,
    shortened: false,
  },
  { case: 'an eviction shortens it', current: 10, pod: deletedWith(10), override: 1, seconds: 1, shortened: true },
  {
    case: 'a longer one later changes nothing',
    current: 1,
    pod: deletedWith(20),
    override: undefined,
    seconds: 1,
    shortened: false,
  },
  {
    case: 'a deletion grace of 0 is 1',
    current: 0,
    pod: deletedWith(0),
    override: undefined,
    seconds: 1,
    shortened: false,
  },
  {
    case: 'a deletion grace of 0 looks unset to an override',
    current: 0,
    pod: deletedWith(0),
    override: 30,
    seconds: 30,
    shortened: false,
  },
  {
    case: 'but gives nothing back once the pod had been asked to stop within 1',
    current: 1,
    pod: deletedWith(0),
    override: 30,
    seconds: 1,
    shortened: false,
  },
  { case: 'a negative override is 1', current: 0, pod: spec30, override: -5, seconds: 1, shortened: false },
  {
    case: 'an override longer than the spec counts the first time',
    current: 0,
    pod: spec30,
    override: 60,
    seconds: 60,
    shortened: false,
  },
  { case: 'without any pod it is 1', current: 0, pod: undefined, override: undefined, seconds: 1, shortened: false },
  {
    case: 'a deletion after a kill by the spec shortens it',
    current: 30,
    pod: deletedWith(5),
    override: undefined,
    seconds: 5,
    shortened: true,
  },
])('$case', ({ current, pod, override, seconds, shortened }) => {
  expect(effectiveGracePeriod(current, pod, override)).toEqual({ seconds, isShortened: shortened });
});

import { Map as ImmutableMap } from 'immutable';
import { describe, expect, it } from 'vitest';
import {
  type WorkerActivities,
  type WorkerActivity,
  withDue,
  withoutDue,
  withoutRun,
  withRun,
} from '../../../src/model/pod-workers/worker-activity.js';

const running = { work: 'sync', since: 5 } as const;
const of = (activity?: WorkerActivity): WorkerActivities => ImmutableMap(activity ? [['a', activity]] : []);

describe('the activity of the worker of a pod', () => {
  it.each([
    ['begins a run', undefined, { running }],
    ['begins a run while its pod is in the work queue', { dueAt: 60 }, { dueAt: 60, running }],
    ['begins the next run', { running: { work: 'terminating', since: 1 } }, { running }],
  ] as const)('%s', (_, before, after) => {
    expect(withRun(of(before), 'a', running)).toEqual(of(after));
  });

  it.each([
    ['ends a run', { running }, undefined],
    ['ends a run while its pod is in the work queue', { dueAt: 60, running }, { dueAt: 60 }],
    ['is the same after the end of no run', { dueAt: 60 }, { dueAt: 60 }],
  ] as const)('%s', (_, before, after) => {
    expect(withoutRun(of(before), 'a')).toEqual(of(after));
  });

  it.each([
    ['has the time at which its pod is due', undefined, { dueAt: 60 }],
    ['has the newest time at which its pod is due', { dueAt: 90 }, { dueAt: 60 }],
    ['goes on while its pod is queued', { running }, { running, dueAt: 60 }],
  ] as const)('%s', (_, before, after) => {
    expect(withDue(of(before), 'a', 60)).toEqual(of(after));
  });

  it.each([
    ['is gone once its pod is taken from the queue', { dueAt: 60 }, undefined],
    ['goes on after its pod is taken from the queue', { running, dueAt: 60 }, { running }],
    ['is the same where its pod was not in the queue', { running }, { running }],
  ] as const)('%s', (_, before, after) => {
    expect(withoutDue(of(before), ['a', 'b'])).toEqual(of(after));
  });

  it('is the same value after a change that says nothing new', () => {
    const activities = of({ dueAt: 60 });
    expect(withDue(activities, 'a', 60)).toBe(activities);
    expect(withoutRun(activities, 'a')).toBe(activities);
    expect(withoutDue(activities, ['b'])).toBe(activities);
  });
});

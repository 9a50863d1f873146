import type { Map as ImmutableMap } from 'immutable';
import type { WorkType } from './pod-worker-record.js';

/** What the worker of a pod does now, and when the pod is due again. Times are the scheduler's milliseconds. */
export interface WorkerActivity {
  /** The run that has begun and not ended. */
  readonly running?: { readonly work: WorkType; readonly since: number };
  /** The time from which the next sync tick wakes the worker; absent while the pod is not in the work queue. */
  readonly dueAt?: number;
}

/** By UID of the pod; a pod whose worker rests and that is not due has no entry. */
export type WorkerActivities = ImmutableMap<string, WorkerActivity>;

export const withRun = (
  activities: WorkerActivities,
  uid: string,
  running: NonNullable<WorkerActivity['running']>,
): WorkerActivities => activities.set(uid, { ...activities.get(uid), running });

export const withoutRun = (activities: WorkerActivities, uid: string): WorkerActivities => {
  const { running, ...rest } = activities.get(uid) ?? {};
  return running ? replaced(activities, uid, rest) : activities;
};

export const withDue = (activities: WorkerActivities, uid: string, dueAt: number): WorkerActivities =>
  activities.get(uid)?.dueAt === dueAt ? activities : activities.set(uid, { ...activities.get(uid), dueAt });

export const withoutDue = (activities: WorkerActivities, uids: readonly string[]): WorkerActivities =>
  uids.reduce((left, uid) => {
    const { dueAt, ...rest } = left.get(uid) ?? {};
    return dueAt === undefined ? left : replaced(left, uid, rest);
  }, activities);

const replaced = (activities: WorkerActivities, uid: string, rest: WorkerActivity): WorkerActivities =>
  Object.keys(rest).length === 0 ? activities.delete(uid) : activities.set(uid, rest);

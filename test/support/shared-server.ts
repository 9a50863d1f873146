import { Observable, type SchedulerLike, type Subscription } from 'rxjs';

export interface SharedServer {
  /** Completes when so many milliseconds of work are done for it. Unsubscribing takes it away. */
  readonly call: (workMs: number) => Observable<never>;
  readonly underWay: () => number;
  /** Does `throughput(n)` milliseconds of work per millisecond, from now on. */
  readonly change: (throughput: (underWay: number) => number) => void;
}

interface Job {
  remainingMs: number;
  readonly done: () => void;
}

/**
 * A server that shares what it can do equally among the calls that are under way; how much that is depends on how many there
 * are.
 */
export const sharedServer = (scheduler: SchedulerLike, initial: (underWay: number) => number): SharedServer => {
  const jobs = new Set<Job>();
  let throughput = initial;
  let updatedAt = scheduler.now();
  let next: Subscription | undefined;

  const perJob = (): number => throughput(jobs.size) / jobs.size;
  const advance = (): void => {
    const now = scheduler.now();
    if (jobs.size > 0) for (const job of jobs) job.remainingMs -= (now - updatedAt) * perJob();
    updatedAt = now;
  };
  const plan = (): void => {
    next?.unsubscribe();
    if (jobs.size === 0) return;
    const soonest = Math.min(...[...jobs].map(({ remainingMs }) => remainingMs));
    next = scheduler.schedule(finish, Math.max(0, soonest / perJob()));
  };
  const finish = (): void => {
    advance();
    const done = [...jobs].filter(({ remainingMs }) => remainingMs < 1e-6);
    for (const job of done) jobs.delete(job);
    plan();
    for (const job of done) job.done();
  };

  return {
    call: (workMs) =>
      new Observable((subscriber) => {
        const job: Job = { remainingMs: workMs, done: () => subscriber.complete() };
        advance();
        jobs.add(job);
        plan();
        return () => {
          advance();
          if (jobs.delete(job)) plan();
        };
      }),
    underWay: () => jobs.size,
    change: (to) => {
      advance();
      throughput = to;
      plan();
    },
  };
};

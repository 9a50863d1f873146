import type { Edit, Mutant } from './mutants.js';

const CRASH_LOOP = 'src/model/pod-actions/crash-loop-back-off.ts';
const IMAGE_GC = 'src/streams/images/image-gc.ts';
const ENSURE_IMAGE = 'src/streams/images/ensure-image.ts';

const clockMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'clocks',
});

/** Mistakes that wrong clocks show. */
export const CLOCK_MUTANTS: readonly Mutant[] = [
  clockMutant(
    'an end in the future begins a new wait each time',
    'a container waits as long as the clock of the runtime is ahead',
    {
      file: CRASH_LOOP,
      find: 'if (entry?.end?.id === instance.id) return entry.end.at;',
      replace: '',
    },
  ),
  clockMutant(
    'the times of the runtime are trusted',
    'a crash loop has no waits with a runtime whose clock is behind',
    {
      file: CRASH_LOOP,
      find: 'return end > now || (decidedAt !== undefined && end < decidedAt) ? now : end;',
      replace: 'return end > now || decidedAt === undefined ? now : end;',
    },
  ),
  clockMutant(
    'an end is compared with the wall clock at each look',
    'a clock that is set in a crash loop makes the wait as much longer, or ends it',
    {
      file: CRASH_LOOP,
      find: 'if (entry?.end?.id === instance.id) return entry.end.at;',
      replace: '',
    },
    {
      file: CRASH_LOOP,
      find: 'return end > now || (decidedAt !== undefined && end < decidedAt) ? now : end;',
      replace: 'return end;',
    },
  ),
  clockMutant(
    'the age of an instance comes from the clock alone',
    'a probe comes before its initial delay with a runtime whose clock is behind',
    {
      file: 'src/model/probes/probe-turn.ts',
      find: '(start ? now - (start.answeredAt ?? now) : wallNow - startedAt)',
      replace: '(start && now < 0 ? now : wallNow - startedAt)',
    },
  ),
  clockMutant('instances are ordered by time', 'after a clock was set back an older instance counts as the newest', {
    file: 'src/model/cri/runtime-pod-status.ts',
    find: 'isInOrder &&= known.at(-1)!.restartCount >= container.restartCount;',
    replace: 'isInOrder &&= true;',
  }),
  clockMutant(
    'a deadline is compared with the wall clock',
    'a pod fails for its deadline as soon as the clock is set on',
    {
      file: 'src/model/pod/active-times.ts',
      find: 'if (times.get(uid)?.startTime === startTime) return times;',
      replace: '',
    },
  ),
  clockMutant('attempts do not rise', 'a new instance has the attempt of one that was removed', {
    file: 'src/streams/pod-sync/start-container.ts',
    find: 'return newest ? of(newest.restartCount + 1)',
    replace: 'return newest ? of(newest.restartCount === 0 ? 1 : newest.restartCount - 1)',
  }),
  clockMutant(
    'ended containers are collected by their time',
    'after a clock was set back the newest end goes, and with it what it proves',
    {
      file: 'src/model/upkeep/container-gc.ts',
      find: "(status?.containers ?? []).filter(({ state }) => state === 'exited');",
      replace: `(status?.containers ?? [])
    .filter(({ state }) => state === 'exited')
    .toSorted((one, other) => Number(other.createdAt - one.createdAt));`,
    },
  ),
  clockMutant(
    'the age of an image comes from the wall clock',
    'images go that were used a moment ago, as soon as the clock is set on',
    {
      file: IMAGE_GC,
      find: 'const { policy, log, recordEvent, scheduler } = options;',
      replace: `const { policy, log, recordEvent, scheduler: timers } = options;
  const { wallClock } = options as unknown as { readonly wallClock: () => number };
  const scheduler: SchedulerLike = {
    now: wallClock,
    schedule: (work, delay, state) => timers.schedule(work, delay, state),
  };`,
    },
  ),
  clockMutant(
    'a wait for a pull goes by the wall clock',
    'a clock that is set back makes it as much longer',
    {
      file: ENSURE_IMAGE,
      find: 'const now = scheduler.now();',
      replace: 'const now = wallClock();',
    },
    {
      file: ENSURE_IMAGE,
      find: 'afterFailedPull(pulls.backOffOf(key), scheduler.now())',
      replace: 'afterFailedPull(pulls.backOffOf(key), context.ports.wallClock())',
    },
  ),
];

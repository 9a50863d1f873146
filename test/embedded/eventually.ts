/** Nothing takes that long; a machine that does other things may stand still for a while. */
const DEADLINE_MS = 90_000;
/** A check may take that long even if it begins at the deadline. */
const LAST_LOOK_MS = 2_000;

/** Looks are a load of their own: they follow each other quickly for a second, then less and less often. */
const QUICK_MS = 20;
const QUICK_FOR_MS = 1_000;
const GROWTH = 1.5;
const SLOWEST_MS = 500;

/**
 * Checks again and again until something is found; a check that throws has found nothing yet, so it may `expect`. The last check
 * begins at the deadline or after it, since the machine may have stood still before. A check that hangs is given up.
 *
 * Errors: at the deadline, with what was waited for and what the last look threw.
 */
export const eventually = async <T>(
  what: string,
  look: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<Exclude<T, false | undefined>> => {
  const start = performance.now();
  const passedMs = (): number => performance.now() - start;
  const notFound = (why: string, cause: unknown): Error =>
    new Error(`not within ${deadlineMs / 1000} s: ${what}${why}`, { cause });

  for (let waitMs = QUICK_MS, problem: unknown; ;) {
    const isLast = passedMs() >= deadlineMs;
    const seen = await within(Math.max(deadlineMs - passedMs(), LAST_LOOK_MS), look);
    if ('found' in seen && seen.found !== undefined && seen.found !== false)
      return seen.found as Exclude<T, false | undefined>;
    if ('hangs' in seen) throw notFound(`: the last look hangs${messageOf(problem, ', the one before: ')}`, problem);
    problem = 'problem' in seen ? seen.problem : undefined;
    if (isLast) throw notFound(messageOf(problem, ': '), problem);
    if (passedMs() > QUICK_FOR_MS) waitMs = Math.min(waitMs * GROWTH, SLOWEST_MS);
    await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, Math.max(0, deadlineMs - passedMs()) + 1)));
  }
};

type Seen<T> = { readonly found: T } | { readonly problem: unknown } | { readonly hangs: true };

/** What a check has seen by then; its later results are not used. */
const within = async <T>(ms: number, look: () => T | Promise<T>): Promise<Seen<T>> => {
  const looking = (async () => look())().then(
    (found) => ({ found }),
    (problem: unknown) => ({ problem }),
  );
  let timer: NodeJS.Timeout | undefined;
  const hanging = new Promise<Seen<T>>((resolve) => (timer = setTimeout(() => resolve({ hangs: true }), ms)));
  const seen = await Promise.race([looking, hanging]);
  clearTimeout(timer);
  return seen;
};

const messageOf = (problem: unknown, before: string): string =>
  problem instanceof Error ? `${before}${problem.message}` : '';

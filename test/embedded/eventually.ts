/** Nothing takes that long; a machine that does other things may stand still for a while. */
const DEADLINE_MS = 60_000;

/**
 * Looks again and again until something is found; a look that throws has found nothing yet, so that a look may `expect`.
 *
 * Errors: after a minute, with what the last look threw.
 */
export const eventually = async <T>(
  what: string,
  look: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<Exclude<T, false | undefined>> => {
  let problem: unknown;
  for (const end = performance.now() + deadlineMs; performance.now() < end;) {
    try {
      problem = undefined;
      const found = await look();
      if (found !== undefined && found !== false) return found as Exclude<T, false | undefined>;
    } catch (error) {
      problem = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const why = problem instanceof Error ? `: ${problem.message}` : '';
  throw new Error(`not within ${deadlineMs / 1000} s: ${what}${why}`, { cause: problem });
};

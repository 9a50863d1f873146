import type { RunOptions } from '../histories/run-history.js';
import { runHistory } from '../histories/run-history.js';
import { type History, HISTORY_START_MS } from '../histories/history.js';
import type { WorldEvent } from '../world/world-event.js';

/** A visible event of a container or pod, and its time in milliseconds since the beginning. */
export type Observation = readonly [atMs: number, what: string];

/** By `<namespace>/<pod> <container>`, or `<namespace>/<pod>` for events of no container. */
export type Observations = Readonly<Record<string, readonly Observation[]>>;

/**
 * Returns the events of a history's pods that are visible from outside: starts, exits with their codes, and events of
 * the API. Repetitions are left out, since the number of a probe's failures in a period is random.
 *
 * Errors: throws the errors of the agent.
 */
export const observeHistory = (
  history: History,
  options?: Pick<RunOptions, 'makeKubelet' | 'options'>,
): Observations => {
  const ledger = new ObservationLedger();
  const tell = (event: WorldEvent): void => {
    const atMs = event.at - HISTORY_START_MS;
    switch (event.kind) {
      case 'container-started':
        return ledger.add(event, atMs, 'started');
      case 'container-exited':
        return ledger.add(event, atMs, `exited ${event.exitCode}`);
      case 'journal': {
        const { entry } = event;
        if (entry.kind !== 'event' || !entry.pod) return;
        const { namespace, name } = entry.pod;
        return ledger.add({ namespace, pod: name, container: entry.container }, atMs, `${entry.type} ${entry.reason}`);
      }
      default:
    }
  };
  const { violations } = runHistory(history, { ...options, invariants: [], tell });
  if (violations.length > 0) throw new Error(violations.map(({ message }) => message).join('; '));
  return ledger.observations();
};

/** The visible events in order. */
export class ObservationLedger {
  readonly #seen = new Map<string, Observation[]>();

  add(
    {
      namespace,
      pod,
      container,
    }: { readonly namespace: string; readonly pod: string; readonly container?: string | undefined },
    atMs: number,
    what: string,
  ): void {
    const key = container === undefined ? `${namespace}/${pod}` : `${namespace}/${pod} ${container}`;
    const seen = this.#seen.get(key) ?? [];
    this.#seen.set(key, seen);
    if (seen.at(-1)?.[1] !== what) seen.push([Math.round(atMs), what]);
  }

  observations(): Observations {
    return Object.fromEntries([...this.#seen].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/**
 * Returns `observed` with the times of `expected` where they are close enough: equal to `expected` if the same events
 * happened in the same order, each within this many milliseconds. Events at the end of the history, or later, are left
 * out if no more are expected.
 */
export const alignTimes = (
  seen: readonly Observation[] = [],
  expected: readonly Observation[],
  { withinMs, untilMs }: { readonly withinMs: number; readonly untilMs: number },
): readonly Observation[] =>
  seen.flatMap((one, index): readonly Observation[] => {
    const [atMs, what] = one;
    const wanted = expected[index];
    if (!wanted) return atMs > untilMs - withinMs ? [] : [one];
    return [Math.abs(wanted[0] - atMs) <= withinMs ? [wanted[0], what] : one];
  });

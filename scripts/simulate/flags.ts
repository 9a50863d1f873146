import { parseArgs } from 'node:util';
import { parseGoDuration } from '../../src/model/values/go-duration.js';
import type { HistoryKind } from '../../src/tools/sim/histories/history-kinds.js';

/** The options of `npm run simulate`. */
export interface SimulateFlags {
  /** The number of seeds. */
  readonly seeds: number;
  /** The first seed; drawn if undefined. */
  readonly from: number | undefined;
  /** No seed begins later. Milliseconds. */
  readonly timeMs: number;
  readonly workers: number;
  /** The number of seeds that may fail without an exit code of 1. */
  readonly tolerate: number;
  /** A file with one history, in place of seeds. */
  readonly history: string | undefined;
  /** The family of the seeds. */
  readonly kind: HistoryKind;
}

export const USAGE = `npm run simulate -- [flags]

Runs nodes in virtual time, each with a history drawn from its seed, and checks every invariant after every step.
A failing seed is reported with the shortest history that still fails.

  --seeds N       the number of seeds (1000)
  --from S        the first one; the others follow (1)
  --seed S        this seed alone
  --fresh         the first one is drawn, and printed
  --time 5m       begins no seed later than that; without --seeds, as many as there is time for
  --workers N     threads (one for each CPU)
  --tolerate N    the number of seeds that may fail: they are reported, and the exit code is still 0 (0)
  --cluster       nodes that belong to a cluster: users of its API, and an API server that is away now and then
  --clocks        wall clocks that are wrong, differ, are set and run at other speeds
  --power         a machine that loses its power and boots
  --shutdowns     a machine that shuts down, after its pods have stopped in groups, and boots
  --pressure      a node that runs short of memory, disk space or process IDs, and evicts pods
  --history FILE  runs this history, a file of an earlier failure
  --help          prints this
`;

const LARGEST_SEED = 2 ** 31;
/** Each is a flag. */
const KINDS = ['cluster', 'clocks', 'power', 'shutdowns', 'pressure'] as const;

/** The flag of a family of seeds, with a space behind it. */
export const kindFlag = (kind: HistoryKind): string => (kind === 'node' ? '' : `--${kind} `);

/** A flag that cannot be used. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

/** Errors: `FlagError`, which names the flag and the expected value. */
export const readFlags = (args: readonly string[], cpus: number): SimulateFlags | 'help' => {
  const values = parse(args);
  if (values.help) return 'help';
  const alone = [values.seed !== undefined && '--seed', values.history !== undefined && '--history'].filter(Boolean);
  const many = (['seeds', 'from', 'time', 'fresh'] as const).filter((name) => values[name] !== undefined);
  if (alone.length > 1) throw new FlagError('--seed and --history exclude each other');
  if (alone.length === 1 && many.length > 0) {
    throw new FlagError(`${String(alone[0])} is about one history, and --${many[0]} about many: give one of them`);
  }
  if (values.fresh && values.from !== undefined) {
    throw new FlagError('--fresh draws the first seed, and --from gives it: give one of them');
  }
  const kinds = KINDS.filter((kind) => values[kind]);
  if (kinds.length > 1) throw new FlagError(`--${kinds[0]} and --${kinds[1]} exclude each other`);
  if (kinds[0] !== undefined && values.history !== undefined) {
    throw new FlagError(`the file of --history states what its node is: leave --${kinds[0]} out`);
  }
  const seed = whole('--seed', values.seed, 0, LARGEST_SEED);
  const from = seed ?? whole('--from', values.from, 0, LARGEST_SEED) ?? 1;
  const timeMs = values.time === undefined ? Infinity : duration('--time', values.time);
  const asked = whole('--seeds', values.seeds, 1, LARGEST_SEED);
  return {
    seeds: seed === undefined ? (asked ?? (Number.isFinite(timeMs) ? LARGEST_SEED : 1000)) : 1,
    from: values.fresh ? undefined : from,
    timeMs,
    workers: whole('--workers', values.workers, 1, 256) ?? cpus,
    tolerate: whole('--tolerate', values.tolerate, 0, LARGEST_SEED) ?? 0,
    history: values.history,
    kind: kinds[0] ?? 'node',
  };
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string' },
        from: { type: 'string' },
        seed: { type: 'string' },
        fresh: { type: 'boolean' },
        time: { type: 'string' },
        workers: { type: 'string' },
        tolerate: { type: 'string' },
        history: { type: 'string' },
        cluster: { type: 'boolean' },
        clocks: { type: 'boolean' },
        power: { type: 'boolean' },
        shutdowns: { type: 'boolean' },
        pressure: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new FlagError(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

const whole = (flag: string, text: string | undefined, min: number, max: number): number | undefined => {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new FlagError(`${flag} is ${JSON.stringify(text)}: expected a whole number from ${min} to ${max}`);
};

const duration = (flag: string, text: string): number => {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new FlagError(`${flag} is ${JSON.stringify(text)}: expected a duration such as 90s or 5m`);
};

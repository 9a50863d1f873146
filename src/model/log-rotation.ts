/** Source: pkg/kubelet/logs/container_log_manager.go LogRotatePolicy. */
export interface LogRotationPolicy {
  /** Bytes from which on a log is rotated; negative leaves all logs alone. */
  readonly maxBytes: bigint;
  /** Files that one container may have, the one that it writes to included; more than 1. */
  readonly maxFiles: number;
  /** How many containers are worked on at a time. */
  readonly workers: number;
  /** Milliseconds from the end of one listing of containers to the next. */
  readonly periodMs: number;
}

/** Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
export const DEFAULT_LOG_ROTATION: LogRotationPolicy = {
  maxBytes: 10n * 1024n * 1024n,
  maxFiles: 5,
  workers: 1,
  periodMs: 10_000,
};

/** What happens to files that were rotated earlier before the log becomes one of them. Everything else stays. */
export interface RotationPlan {
  /** In this order: what earlier rotations left unfinished, then the oldest. */
  readonly remove: readonly string[];
  readonly compress: readonly string[];
}

const UNFINISHED = '.tmp';
const COMPRESSED = '.gz';

/**
 * Makes room for the log among the files that were rotated away from it, given by path or name. The newest rotated file is left
 * uncompressed, since collectors may still read it and the runtime may still write to it: it becomes compressed next time.
 *
 * Source: pkg/kubelet/logs/container_log_manager.go rotateLog, filterUnusedLogs, removeExcessLogs
 */
export const planRotation = (rotated: readonly string[], maxFiles: number): RotationPlan => {
  const all = new Set(rotated);
  const isUnfinished = (name: string) => name.endsWith(UNFINISHED) || all.has(name + COMPRESSED);
  // Their names end in their time, so that the order of names is that of age.
  const inUse = rotated.filter((name) => !isUnfinished(name)).toSorted();
  // The log itself will be one, and the runtime makes another one.
  const surplus = Math.max(0, inUse.length - Math.max(0, maxFiles - 2));
  return {
    remove: [...rotated.filter(isUnfinished), ...inUse.slice(0, surplus)],
    compress: inUse.slice(surplus).filter((name) => !name.endsWith(COMPRESSED)),
  };
};

/** Where compressing a file writes, and where the result goes. */
export const compressedNames = (path: string): { readonly draft: string; readonly final: string } => ({
  draft: path + UNFINISHED,
  final: path + COMPRESSED,
});

export interface RotationMoment {
  /** Unix milliseconds. */
  readonly at: number;
  /** Minutes that the node's time is ahead of UTC at that moment. */
  readonly utcOffsetMinutes: number;
}

/**
 * The name under which a log is kept: `<log>.YYYYMMDD-hhmmss` in the node's time. Where a file of that name is there already, be it
 * compressed, as when a clock was set back, a later second is taken: nothing is overwritten.
 */
export const rotatedName = (
  log: string,
  { at, utcOffsetMinutes }: RotationMoment,
  rotated: readonly string[],
): string => {
  const taken = new Set(rotated);
  for (let second = 0; ; second += 1) {
    const name = `${log}.${stamp(at + utcOffsetMinutes * 60_000 + second * 1_000)}`;
    if (!taken.has(name) && !taken.has(name + COMPRESSED)) return name;
  }
};

const stamp = (localMs: number): string => {
  const [date = '', time = ''] = new Date(localMs).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
};

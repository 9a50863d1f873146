import { formatGoDuration } from '../values/go-duration.js';

/** The fields of the configuration about a shutdown of the node. */
export interface ShutdownFields {
  /** `shutdownGracePeriod`, in milliseconds; 0 is off. */
  readonly shutdownGracePeriodMs: number;
  /** `shutdownGracePeriodCriticalPods`, the part of it that is for critical pods alone, in milliseconds. */
  readonly shutdownGracePeriodCriticalPodsMs: number;
  /** `shutdownGracePeriodByPodPriority`: replaces the other two; empty is off. */
  readonly shutdownGracePeriodByPodPriority: readonly ShutdownPeriod[];
}

/** One entry of `shutdownGracePeriodByPodPriority`. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}

/** The pods from a priority up to that of the next group, which are stopped together. */
export interface ShutdownGroup {
  /** The lowest priority of its pods. */
  readonly priority: number;
  /** The longest grace period of a pod, and the longest wait for all of them. */
  readonly graceSeconds: number;
}

const DEFAULT_PRIORITY = 0;
/** Source: pkg/apis/scheduling/types.go SystemCriticalPriority */
const CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Returns the groups of pods, lowest priority first; none if the node ends its pods without a grace period of its own.
 * The two periods are whole seconds: a fraction of a second is cut off.
 *
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go NewManager, migrateConfig
 */
export const shutdownGroups = ({
  shutdownGracePeriodMs: whole,
  shutdownGracePeriodCriticalPodsMs: critical,
  shutdownGracePeriodByPodPriority: periods,
}: ShutdownFields): readonly ShutdownGroup[] => {
  if (periods.length > 0) {
    return periods
      .map(({ priority, shutdownGracePeriodSeconds }) => ({ priority, graceSeconds: shutdownGracePeriodSeconds }))
      .toSorted((one, other) => one.priority - other.priority);
  }
  if (whole === 0) return [];
  return [
    { priority: DEFAULT_PRIORITY, graceSeconds: Math.trunc((whole - critical) / 1_000) },
    { priority: CRITICAL_PRIORITY, graceSeconds: Math.trunc(critical / 1_000) },
  ];
};

/** The time that a shutdown takes at most, in seconds: the groups are stopped one after the other. */
export const shutdownSeconds = (groups: readonly ShutdownGroup[]): number =>
  groups.reduce((sum, { graceSeconds }) => sum + graceSeconds, 0);

/** Returns the problem of the fields, or false. */
type ShutdownRule = (fields: ShutdownFields) => string | false;

const isTooShort = (ms: number): boolean => ms < 0 || (ms > 0 && ms < 1_000);

const RULES: readonly ShutdownRule[] = [
  ({ shutdownGracePeriodByPodPriority, shutdownGracePeriodMs: whole, shutdownGracePeriodCriticalPodsMs: critical }) =>
    shutdownGracePeriodByPodPriority.length > 0 &&
    (whole > 0 || critical > 0) &&
    'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
  ({ shutdownGracePeriodMs: whole, shutdownGracePeriodCriticalPodsMs: critical }) =>
    critical > whole &&
    `shutdownGracePeriodCriticalPods ${formatGoDuration(critical)} must be <= shutdownGracePeriod ${formatGoDuration(whole)}`,
  ...(['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const).map(
    (field): ShutdownRule =>
      (fields) =>
        isTooShort(fields[`${field}Ms`]) &&
        `${field} ${formatGoDuration(fields[`${field}Ms`])} must be either zero or otherwise >= 1 sec`,
  ),
  ({ shutdownGracePeriodByPodPriority: periods }) => {
    const index = periods.findIndex(({ shutdownGracePeriodSeconds }) => shutdownGracePeriodSeconds < 0);
    return (
      index >= 0 &&
      `shutdownGracePeriodByPodPriority[${index}].shutdownGracePeriodSeconds ${periods[index]?.shutdownGracePeriodSeconds} must not be negative`
    );
  },
];

/**
 * The rules of the fields, each for itself, with the texts of the Go kubelet. A negative period of a priority has no
 * rule upstream: it would end the group at once.
 *
 * Source: pkg/kubelet/apis/config/validation/validation.go
 */
export const SHUTDOWN_RULES: readonly ShutdownRule[] = [...RULES];

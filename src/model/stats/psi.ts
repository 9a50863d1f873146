/**
 * One line of a pressure file, as it is in the summary. The comment of upstream's type PSIData says nanoseconds; cAdvisor and the
 * kubelet pass on the microseconds of the kernel, and the pages of Kubernetes say so.
 *
 * Source: github.com/google/cadvisor lib/container/libcontainer/handler.go setPSIData, pkg/kubelet/stats/helper.go cadvisorPSIToStatsPSI
 */
export interface PressureLine {
  /** Microseconds of stalls since the group was made. */
  readonly total: number;
  /** Percent of the last 10, 60 and 300 seconds. */
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

/** Pressure stall information: `some` tasks waited, or all of them (`full`). */
export interface Pressure {
  readonly some: PressureLine;
  readonly full: PressureLine;
}

const NONE: PressureLine = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

/**
 * Returns the pressure of a file such as `cpu.pressure`; undefined if the kernel does not have it. Kernels before 5.13 have no
 * line `full` for the CPU, whose value is 0 by definition at the root.
 *
 * Source: opencontainers/cgroups fs2/psi.go statPSI
 */
export const parsePressure = (text: string | undefined): Pressure | undefined => {
  const lines = new Map<string, PressureLine>();
  for (const [, kind = '', avg10, avg60, avg300, total] of (text ?? '').matchAll(
    /^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm,
  ))
    lines.set(kind, {
      total: Number(total),
      avg10: Number(avg10),
      avg60: Number(avg60),
      avg300: Number(avg300),
    });
  const some = lines.get('some');
  return some && { some, full: lines.get('full') ?? NONE };
};

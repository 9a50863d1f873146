/**
 * The shortest time between the two samples of a rate, in milliseconds. Over less, the steps of the kernel's counters show;
 * then the former rate stays.
 */
export const MIN_RATE_MS = 1_000;

interface Sample {
  readonly atMs: number;
  readonly usageNs: number;
  readonly rate: number | undefined;
}

/**
 * The rates of CPU times since the last sample of each, in nanoseconds per second. A new instance has another key.
 *
 * Source: pkg/kubelet/stats/cri_stats_provider.go getAndUpdateContainerUsageNanoCores
 */
export class CpuRates {
  private samples = new Map<string, Sample>();

  /** Adds a sample and returns the rate; undefined for the first sample, and after a counter went backwards. */
  rate(key: string, atMs: number, usageNs: number): number | undefined {
    const before = this.samples.get(key);
    if (before && atMs - before.atMs < MIN_RATE_MS) return before.rate;
    const rate =
      before && usageNs >= before.usageNs
        ? Math.round(((usageNs - before.usageNs) * 1_000) / (atMs - before.atMs))
        : undefined;
    this.samples.set(key, { atMs, usageNs, rate });
    return rate;
  }

  /** Forgets all other keys. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.samples.keys()) if (!keys.has(key)) this.samples.delete(key);
  }
}

import type { Invariant } from './monitor.js';

const FIRST_MS = 10_000;
const MAX_MS = 300_000;
const RESET_AFTER_MS = 600_000;

interface Entry {
  readonly delayMs: number;
  /** The time of the last failure, by the wall clock. */
  readonly since: number;
  readonly isUnsure?: boolean;
}

export const pullBackOff: Invariant = {
  name: 'pull-back-off',
  rule: 'A pod whose pull of an image failed waits 10 s before the next, and then twice as long each time, up to 5 minutes.',
  source: 'pkg/kubelet/images/image_manager.go pullImage',
  watch: (truth) => {
    // In memory only: another agent begins from zero.
    let entries = new Map<string, Entry>();
    return {
      on: (event) => {
        if (event.kind === 'agent-started') entries = new Map();
        // A pull that has waited by the former clock may have been queued since: its wait is unknown.
        if (event.kind === 'clock-set' || event.kind === 'runtime-clock-set') {
          for (const [key, entry] of entries) entries.set(key, { ...entry, isUnsure: true });
        }
        if (event.kind === 'call-ended' && event.call === 'PullImage' && event.error !== undefined) {
          const call = truth.calls.get(event.number);
          if (!call) return undefined;
          const key = `${call.uid} ${call.image}`;
          const before = entries.get(key);
          const since = truth.wall(event.at);
          const isUnsure = truth.oneClockSince === undefined;
          const isFirst = !before || since - before.since > RESET_AFTER_MS;
          entries.set(key, { delayMs: isFirst ? FIRST_MS : Math.min(2 * before.delayMs, MAX_MS), since, isUnsure });
          return undefined;
        }
        if (event.kind !== 'call' || event.call !== 'PullImage') return undefined;
        const { uid, image } = truth.subject(event);
        const entry = entries.get(`${uid} ${image}`);
        const now = truth.wall(event.at);
        if (!entry || entry.isUnsure || now - entry.since >= entry.delayMs || now - entry.since > RESET_AFTER_MS)
          return undefined;
        const waited = now - entry.since;
        const message = `${image} is pulled ${waited} ms after a failure (expected ${entry.delayMs} ms at least)`;
        return [{ uid, message }];
      },
    };
  },
};

import type { Finding, Invariant } from './monitor.js';

/** Far more than the changes that the pods of a history go through. */
const MOST_PER_MINUTE = 40;
const MINUTE = 60_000;

export const fewStatusWrites: Invariant = {
  name: 'few-status-writes',
  rule: 'The status of one pod is written no more than 40 times a minute.',
  source: 'pkg/kubelet/status/status_manager.go needsUpdate, needsReconcile',
  watch: () => {
    const writes = new Map<string, number[]>();
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind !== 'api-answered' || event.by !== 'agent' || event.method !== 'PATCH') return undefined;
        if (!event.path.endsWith('/status')) return undefined;
        const recent = (writes.get(event.path) ?? []).filter((at) => at > event.at - MINUTE);
        recent.push(event.at);
        writes.set(event.path, recent);
        if (recent.length <= MOST_PER_MINUTE) return undefined;
        const message = `${event.path} was written ${recent.length} times in a minute (expected ${MOST_PER_MINUTE} at most)`;
        return [{ message }];
      },
    };
  },
};

import type { Finding, Invariant } from './monitor.js';

/** Far more than the changes of the pods of a history, except those of a container that starts and ends again and again. */
const MOST_PER_MINUTE = 40;
/** Runs, has started, is ready, has ended, waits: once each. */
const MOST_PER_START = 5;
const MINUTE = 60_000;

export const fewStatusWrites: Invariant = {
  name: 'few-status-writes',
  rule: 'The status of one pod is written no more than 40 times a minute for each of its containers, and 5 times more for each start.',
  source: 'pkg/kubelet/status/status_manager.go needsUpdate, needsReconcile',
  watch: (truth) => {
    const writes = new Map<string, number[]>();
    const starts = new Map<string, number[]>();
    const withinMinute = (times: readonly number[] | undefined, now: number): number[] =>
      (times ?? []).filter((at) => at > now - MINUTE);
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'container-started') {
          const path = statusPath(event.namespace, event.pod);
          starts.set(path, [...withinMinute(starts.get(path), event.at), event.at]);
        }
        // Another pod of the same name.
        if (event.kind === 'api-changed' && event.resource === 'pods' && event.type === 'ADDED') {
          const { namespace, name } = event.object.metadata;
          writes.delete(statusPath(namespace, name));
        }
        if (event.kind !== 'api-answered' || event.by !== 'agent' || event.method !== 'PATCH') return undefined;
        if (!event.path.endsWith('/status')) return undefined;
        const recent = [...withinMinute(writes.get(event.path), event.at), event.at];
        writes.set(event.path, recent);
        if (recent.length <= MOST_PER_MINUTE) return undefined;
        const pod = truth.apiPods.find(({ metadata }) => event.path === statusPath(metadata.namespace, metadata.name));
        const containers = pod ? pod.spec.containers.length + (pod.spec.initContainers ?? []).length : 1;
        const most =
          MOST_PER_MINUTE * containers + MOST_PER_START * withinMinute(starts.get(event.path), event.at).length;
        if (recent.length <= most) return undefined;
        const message = `${event.path} was written ${recent.length} times in a minute (expected ${most} at most)`;
        return [{ message }];
      },
    };
  },
};

const statusPath = (namespace = '', name = ''): string => `/api/v1/namespaces/${namespace}/pods/${name}/status`;

import type { Finding, Invariant } from './monitor.js';

/** Far more than the changes of the pods of a history. */
const MOST_PER_MINUTE = 40;
const MINUTE = 60_000;

export const fewStatusWrites: Invariant = {
  name: 'few-status-writes',
  rule: 'The status of one pod is written no more than 40 times a minute for each of its containers.',
  source: 'pkg/kubelet/status/status_manager.go needsUpdate, needsReconcile',
  watch: (truth) => {
    const writes = new Map<string, number[]>();
    return {
      on: (event): readonly Finding[] | undefined => {
        // Another pod of the same name.
        if (event.kind === 'api-changed' && event.resource === 'pods' && event.type === 'ADDED') {
          const { namespace, name } = event.object.metadata;
          writes.delete(`/api/v1/namespaces/${namespace}/pods/${name}/status`);
        }
        if (event.kind !== 'api-answered' || event.by !== 'agent' || event.method !== 'PATCH') return undefined;
        if (!event.path.endsWith('/status')) return undefined;
        const recent = (writes.get(event.path) ?? []).filter((at) => at > event.at - MINUTE);
        recent.push(event.at);
        writes.set(event.path, recent);
        if (recent.length <= MOST_PER_MINUTE) return undefined;
        const pod = truth.apiPods.find(({ metadata }) =>
          event.path.endsWith(`/${metadata.namespace}/pods/${metadata.name}/status`),
        );
        const containers = pod ? pod.spec.containers.length + (pod.spec.initContainers ?? []).length : 1;
        const most = MOST_PER_MINUTE * containers;
        if (recent.length <= most) return undefined;
        const message = `${event.path} was written ${recent.length} times in a minute (expected ${most} at most)`;
        return [{ message }];
      },
    };
  },
};

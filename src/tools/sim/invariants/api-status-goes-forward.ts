import { isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';
import { isTerminal } from './pod-spec.js';

export const apiStatusGoesForward: Invariant = {
  name: 'api-status-goes-forward',
  rule: 'In the API a pod that has ended stays ended, its start time stays and the restart counts of its containers never fall, across lives of the agent; except for mirror pods.',
  source: 'pkg/kubelet/status/status_manager.go updateStatusInternal, mergePodStatus',
  watch: () => ({
    on: (event) => {
      if (event.kind !== 'api-changed' || event.resource !== 'pods' || !event.before || event.type === 'DELETED')
        return undefined;
      const { uid } = event.object.metadata;
      const [before, now] = [event.before as unknown as Pod, event.object as unknown as Pod].map(
        ({ status }) => status,
      );
      // A static pod may be removed and added again under its UID, with the same mirror pod.
      if (before === now || isMirrorPod(event.object as unknown as Pod)) return undefined;
      const findings: Finding[] = [];
      if (isTerminal(before?.phase) && now?.phase !== before?.phase)
        findings.push({
          uid,
          message: `went from ${before?.phase} to ${now?.phase} (expected ${before?.phase} for good)`,
        });
      if (before?.startTime !== undefined && now?.startTime !== before.startTime)
        findings.push({ uid, message: `its start time went from ${before.startTime} to ${now?.startTime}` });
      for (const list of ['containerStatuses', 'initContainerStatuses'] as const) {
        for (const { name, restartCount } of before?.[list] ?? []) {
          const count = now?.[list]?.find((status) => status.name === name)?.restartCount ?? 0;
          if (count >= restartCount) continue;
          const message = `its restart count went from ${restartCount} to ${count} (expected it never to fall)`;
          findings.push({ uid, container: name, message });
        }
      }
      return findings;
    },
  }),
};

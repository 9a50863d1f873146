import { isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';
import { isLive } from './pod-truth.js';

export const apiPodsOutliveContainers: Invariant = {
  name: 'api-pods-outlive-containers',
  rule: 'The agent removes a pod from the API only if its deletion was requested and none of its containers runs.',
  source:
    'pkg/kubelet/status/status_manager.go canBeDeleted, pkg/kubelet/kubelet_pods.go PodCouldHaveRunningContainers',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'api-changed' || event.resource !== 'pods' || event.type !== 'DELETED') return undefined;
      const pod = event.object as unknown as Pod;
      if (event.by !== 'agent' || isMirrorPod(pod)) return undefined;
      const { uid } = pod.metadata;
      const findings: Finding[] = [];
      if (event.before?.metadata.deletionTimestamp === undefined)
        findings.push({ uid, message: 'was deleted by the agent without a request' });
      for (const { container } of truth.pods.get(uid)?.instances.filter(isLive) ?? [])
        findings.push({ uid, container, message: 'runs though the agent has removed its pod from the API' });
      return findings;
    },
  }),
};

import { isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';
import { isTerminal } from './pod-spec.js';
import { isLive, type PodTruth } from './pod-truth.js';

/** Older events have been written, in a quiet time: all statuses are reconciled every 10 s. */
const WRITTEN_MS = 40_000;

export const apiShowsWhatRuns: Invariant = {
  name: 'api-shows-what-runs',
  rule: 'In quiet times the API shows for every pod of the node the phase in the agent and the running containers.',
  source: 'pkg/kubelet/status/status_manager.go syncPod',
  watch: (truth) => ({
    end: ({ at, quietSince }) => {
      if (truth.life === undefined) return [];
      return truth.apiPods.flatMap((inApi): readonly Finding[] => {
        const pod = truth.pods.get(inApi.metadata.uid);
        if (isMirrorPod(inApi) || !pod || inApi.metadata.deletionTimestamp !== undefined) return [];
        const since = Math.max(quietSince, pod.specSince, truth.lifeSince, pod.shown?.at ?? 0);
        // A run that has not ended has not reported its work.
        if (at - since < WRITTEN_MS || pod.pass) return [];
        return untold(pod, inApi, at);
      });
    },
  }),
};

const untold = (pod: PodTruth, { status }: Pod, at: number): readonly Finding[] => {
  const { uid, shown } = pod;
  const findings: Finding[] = [];
  const phase = shown?.pod.status?.phase;
  if (phase !== undefined && phase !== status?.phase)
    findings.push({ uid, message: `is ${status?.phase} in the API, while the agent shows ${phase}` });
  if (isTerminal(status?.phase)) {
    const running = pod.instances.find(isLive);
    if (running)
      findings.push({ uid, container: running.container, message: `runs though the API has ${status?.phase}` });
    return findings;
  }
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  for (const instance of pod.instances.filter(isLive)) {
    if (at - (instance.startedAt ?? at) < WRITTEN_MS) continue;
    const inApi = statuses.find(({ name }) => name === instance.container);
    if (inApi?.containerID?.endsWith(`//${instance.containerId}`) && inApi.state?.running) continue;
    const message = `runs as ${instance.containerId}, but the API has ${JSON.stringify(inApi?.state)} of ${inApi?.containerID}`;
    findings.push({ uid, container: instance.container, message });
  }
  for (const { name, state } of statuses) {
    const last = pod.instances.findLast(({ container }) => container === name);
    if (!state?.running || (last && (isLive(last) || at - (last.exitedAt ?? at) < WRITTEN_MS))) continue;
    findings.push({ uid, container: name, message: 'is running in the API, but does not run' });
  }
  return findings;
};

import type { Pod } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';
import { isTerminal, restarts } from './pod-spec.js';
import { isLive, liveInstances, type PodTruth, seenSinceOf } from './pod-truth.js';

/** Older events have been seen, in a quiet time. Milliseconds. */
const SEEN_MS = 30_000;
const SETTLED_MS = 100_000;

export const endsAreReported: Invariant = {
  name: 'ends-are-reported',
  rule: 'Every ended pod shows its end and no other pod shows one; in quiet times statuses show exactly the running containers.',
  source: 'pkg/kubelet/kubelet_pods.go getPhase, generateAPIPodStatus',
  watch: (truth, { eventedPleg }) => ({
    on: (event) => {
      if (event.kind !== 'status' || !event.pod?.status) return undefined;
      const pod = truth.pods.get(event.uid);
      const { phase, reason } = event.pod.status;
      if (!pod) return undefined;
      const { lastPass } = pod;
      if (lastPass?.work === 'terminated' && lastPass.ended.error === undefined && pod.source === 'api') {
        if (!isTerminal(phase))
          return [{ uid: pod.uid, message: `shows as ${phase} after its end (expected Succeeded or Failed)` }];
      }
      // An end with a reason is a decision, even while containers still run.
      if (!isTerminal(phase) || reason !== undefined || pod.rejectedAt !== undefined) return undefined;
      const seenSince = seenSinceOf(truth, pod, { at: event.at, eventedPleg });
      const running = event.pod.spec.containers.find(({ name }) =>
        liveInstances(pod, name).some(({ startedAt = 0 }) => startedAt < seenSince),
      );
      if (!running) return undefined;
      return [{ uid: pod.uid, container: running.name, message: `runs though its pod shows as ${phase}` }];
    },
    end: ({ at, quietSince }) => {
      if (truth.life === undefined) return [];
      return [...truth.pods.values()].flatMap((pod): readonly Finding[] => {
        const { wanted, pass, rejectedAt, shown } = pod;
        if (!wanted || wanted.metadata.deletionTimestamp !== undefined) return [];
        if (pass || rejectedAt !== undefined || pod.startDelayed) return [];
        if (at - Math.max(quietSince, pod.specSince, truth.lifeSince) < SETTLED_MS) return [];
        if (!shown) return [{ uid: pod.uid, message: 'has no status after a long quiet time (expected one)' }];
        return untold(pod, wanted, shown.pod, at);
      });
    },
  }),
};

const untold = (pod: PodTruth, wanted: Pod, { status }: Pod, at: number): readonly Finding[] => {
  const { uid } = pod;
  const findings: Finding[] = [];
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  for (const { name } of [...wanted.spec.containers, ...(wanted.spec.initContainers ?? [])]) {
    const ofName = pod.instances.filter(({ container }) => container === name);
    const changedAt = Math.max(0, ...ofName.flatMap(({ startedAt = 0, exitedAt = 0 }) => [startedAt, exitedAt]));
    if (at - changedAt < SEEN_MS) continue;
    const live = ofName.find(isLive);
    const shown = statuses.find((entry) => entry.name === name);
    const id = shown?.containerID?.replace(/^[^:]*:\/\//, '');
    if (live && !(shown?.state?.running && id === live.containerId)) {
      const message = `runs as ${live.containerId}, but shows as ${JSON.stringify(shown?.state)} of ${id}`;
      findings.push({ uid, container: name, message });
    }
    if (!live && shown?.state?.running) {
      findings.push({ uid, container: name, message: 'shows as running, but does not run (expected its end to show)' });
    }
  }
  const isOver = wanted.spec.containers.every(({ name }) => {
    const last = pod.instances.findLast(({ container }) => container === name);
    if (last?.exitCode === undefined || at - (last.exitedAt ?? 0) < SEEN_MS) return false;
    // The container is one of an earlier pod of this UID, and nothing shows it any more.
    if (last.removedAt !== undefined && (last.exitedAt ?? 0) < (pod.addedAt ?? -Infinity)) return false;
    return !restarts(wanted, name, last.exitCode);
  });
  if (isOver && !isTerminal(status?.phase)) {
    findings.push({ uid, message: `has ended, but shows as ${status?.phase} (expected Succeeded or Failed)` });
  }
  return findings;
};

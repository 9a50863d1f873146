import type { Container, Pod } from '../../../model/pod/pod.js';
import type { EndOfRun, Finding, Invariant } from './monitor.js';
import { isTerminal, restarts, roleOf } from './pod-spec.js';
import { isLive, isReady, lateNewsMs, type PodTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';

/** The quiet time after which every desired pod runs, or waits for something known. Milliseconds. */
const SETTLED_MS = 100_000;
/** A container that ended within this time need not have been noticed and restarted. */
const RECENT_MS = 30_000;
/** The longest time until the next sync of a pod whose wait is over: a resync with its jitter, and a little more. */
const NEXT_LOOK_MS = 100_000;
/** A longer pull, hook or start takes longer than any behaviour of a simulated container. */
const LONGEST_CALL_MS = 400_000;

export const newestWantedRuns: Invariant = {
  name: 'newest-wanted-runs',
  rule: 'Soon after the world has become quiet, every pod runs in the last version of its source, or has a known wait: a back-off, a pull, an init container.',
  source: 'pkg/kubelet/pod_workers.go pendingUpdate, docs/workers.md',
  watch: (truth) => ({
    on: (event) => {
      if (event.kind !== 'journal' || event.entry.kind !== 'sync-ended' || event.entry.work !== 'sync')
        return undefined;
      const pod = truth.pods.get(event.entry.pod?.uid ?? '');
      return event.entry.error === undefined && pod ? outdated(pod) : undefined;
    },
    end: (run) => {
      const findings: Finding[] = [];
      for (const pods of truth.sources.values()) {
        for (const wanted of pods) {
          const pod = truth.pods.get(wanted.metadata.uid);
          if (!pod || wanted.metadata.deletionTimestamp !== undefined) continue;
          if (run.at - Math.max(run.quietSince, pod.specSince) < SETTLED_MS) continue;
          findings.push(...unsettled(truth, pod, wanted, run));
        }
      }
      return findings;
    },
  }),
};

/** The containers of an older version that a successful run with the newest version has left. */
const outdated = ({
  uid,
  wanted,
  source,
  pass,
  heardAt,
  specSince,
  ...pod
}: PodTruth): readonly Finding[] | undefined => {
  const certainSince = specSince + lateNewsMs({ source });
  const knewNewest = pass && heardAt !== undefined && heardAt >= certainSince && heardAt < pass.since;
  // A run only learns that its pod's time is over; the next one stops it.
  if (!wanted || !knewNewest || isTerminal(pod.phase)) return undefined;
  const left = wanted.spec.containers.filter(({ name, image }) =>
    pod.instances.some(
      (instance) =>
        instance.container === name &&
        isLive(instance) &&
        instance.image !== image &&
        (instance.startedAt ?? 0) < (pod.lastPassEndedAt ?? 0),
    ),
  );
  return left.map(({ name, image }) => ({
    uid,
    container: name,
    message: `still runs with another image after a successful run (expected ${image}, received before the run)`,
  }));
};

const unsettled = (truth: WorldTruth, pod: PodTruth, wanted: Pod, { at }: EndOfRun): readonly Finding[] => {
  const { uid } = pod;
  const wall = truth.wall(at);
  const isOver = pod.rejectedAt !== undefined || isTerminal(pod.phase) || isTerminal(pod.shown?.pod.status?.phase);
  if (isOver) return [];
  if (pod.startDelayed && at - pod.startDelayed.at < RECENT_MS && isHeld(truth, uid, pod.startDelayed.holder))
    return [];
  const isBusy = [...truth.calls.values()].some((call) => call.uid === uid && at - call.since < LONGEST_CALL_MS);
  const isInHook = pod.pass !== undefined && at - pod.pass.since < LONGEST_CALL_MS && hasHook(wanted);
  if (isBusy || isInHook || isBehindPull(truth, pod, at)) return [];

  const ready = pod.sandboxes.filter(isReady);
  // Under Never a pod whose sandbox is lost gets no other one, even if not all of its containers have run.
  const isLost = ready.length === 0 && wanted.spec.restartPolicy === 'Never' && pod.instances.length > 0;
  if (isLost) return [];
  if (ready.length !== 1) {
    return [{ uid, message: `has ${ready.length} ready sandboxes after a long quiet time (expected one)` }];
  }
  const sandbox = ready[0]!;
  const findings: Finding[] = [];

  /** Whether it runs, has ended for good, waits, or none of these. */
  const stateOf = (container: Container): 'live' | 'ended' | 'waiting' | 'missing' | 'outdated' => {
    const ofName = pod.instances.filter(({ container: name }) => name === container.name);
    const live = ofName.find(isLive);
    if (live) return live.image === container.image || roleOf(wanted, container.name) === 'init' ? 'live' : 'outdated';
    const last = ofName.findLast(({ startedAt, exitedAt }) => (startedAt ?? exitedAt) !== undefined);
    if (last?.exitCode !== undefined && !restarts(wanted, container.name, last.exitCode)) return 'ended';
    // The runtime may have lost the record of an end that the status shows.
    const shown = shownEnd(pod, container.name, ofName.at(-1)?.containerId);
    if (shown !== undefined && !restarts(wanted, container.name, shown)) return 'ended';
    if (last?.exitedAt !== undefined && at - last.exitedAt < RECENT_MS) return 'waiting';
    if (container.imagePullPolicy === 'Never' && shownReason(pod, container.name) === 'ErrImageNeverPull')
      return 'waiting';
    const waits = [container.name, `${container.name} image`].some(
      (key) => (pod.backOffUntil.get(key) ?? -Infinity) > wall - NEXT_LOOK_MS,
    );
    return waits ? 'waiting' : 'missing';
  };
  const complain = (container: string, state: 'missing' | 'outdated'): void => {
    const message =
      state === 'missing'
        ? 'does not run after a long quiet time, and has no known wait'
        : 'still runs in an earlier version of its pod (expected its newest image)';
    findings.push({ uid, container, message });
  };

  const isInitialized = wanted.spec.containers.some(({ name }) =>
    pod.instances.some((instance) => instance.container === name && instance.sandboxId === sandbox.sandboxId),
  );
  for (const init of wanted.spec.initContainers ?? []) {
    const isSidecar = roleOf(wanted, init.name) === 'sidecar';
    // It runs again after a rule has restarted all containers.
    const runs = pod.instances.some((instance) => instance.container === init.name && isLive(instance));
    if (!isSidecar && isInitialized && !runs) continue;
    const hasSucceeded = pod.instances.some(
      ({ container, sandboxId, exitCode }) =>
        container === init.name && sandboxId === sandbox.sandboxId && exitCode === 0,
    );
    if (!isSidecar && hasSucceeded && !runs) continue;
    const state = stateOf(init);
    // A sidecar that has not started yet is not compared with its spec.
    if (state === 'missing' || (state === 'outdated' && !init.startupProbe)) complain(init.name, state);
    if (!isSidecar || state !== 'live' || init.startupProbe) return findings;
  }
  for (const container of wanted.spec.containers) {
    const state = stateOf(container);
    if (state === 'missing' || state === 'outdated') complain(container.name, state);
  }
  return findings;
};

/** The pod of the same name that this one waits for stays for good. */
const isHeld = (truth: WorldTruth, uid: string, holder: string): boolean => {
  // A pod that waits for itself waits for no other one.
  if (holder === uid) return false;
  const pod = truth.pods.get(holder);
  return pod?.wanted !== undefined || (pod?.instances.some(isLive) ?? false);
};

/** A sync whose pull waits until another pod's pull frees a place in the queue of the node. */
const isBehindPull = ({ calls }: WorldTruth, { pass }: PodTruth, at: number): boolean =>
  pass !== undefined &&
  at - pass.since < LONGEST_CALL_MS &&
  [...calls.values()].some(({ call, since }) => call === 'PullImage' && at - since < LONGEST_CALL_MS);

/** The exit code of the instance in the status of the pod. */
const shownEnd = ({ shown }: PodTruth, container: string, containerId = ''): number | undefined => {
  const terminated = shown?.pod.status?.containerStatuses?.find(({ name }) => name === container)?.state?.terminated;
  return containerId !== '' && terminated?.containerID?.endsWith(containerId) ? terminated.exitCode : undefined;
};

const shownReason = ({ shown }: PodTruth, container: string): string | undefined =>
  [...(shown?.pod.status?.containerStatuses ?? []), ...(shown?.pod.status?.initContainerStatuses ?? [])].find(
    ({ name }) => name === container,
  )?.state?.waiting?.reason;

const hasHook = ({ spec }: Pod): boolean =>
  [...spec.containers, ...(spec.initContainers ?? [])].some(({ lifecycle }) => lifecycle?.postStart !== undefined);

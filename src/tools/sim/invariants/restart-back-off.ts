import { asksForAll, containerOf } from './pod-spec.js';
import type { Invariant } from './monitor.js';
import { isRebirth } from './journal-truth.js';
import { type InstanceTruth, isReady, type PodTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';
import { UNKNOWN_END } from '../runtime/container.js';

const FIRST_MS = 10_000;
const RESET_AFTER_MS = 600_000;
const FORGOTTEN_AFTER_MS = 1_200_000;
/** With wrong clocks, an end counts from when the agent first sees it, which is later by less than that. */
const SEEN_AFTER_MS = 120_000;

/** The wait before the next restart of a container. */
interface Entry {
  readonly image: string;
  readonly resources: string;
  /** Milliseconds from the end of the last instance. */
  readonly delayMs: number;
  /** The earliest time of the last restart's decision. */
  readonly since: number;
  /** The ends that were surely crashes, since the table began: another agent goes on with these. */
  readonly crashes: number;
  /** From an earlier life of the agent: this one only knows the state of the runtime. */
  readonly isOfEarlierLife?: boolean;
}

/** A requested restart without an effect yet. */
interface Restart {
  readonly entry: Entry | undefined;
}

export const restartBackOff: Invariant = {
  name: 'restart-back-off',
  rule: 'A container that keeps ending waits 10 s before its second restart and then twice as long each time, up to the maximum, unless it ran for more than 10 minutes; another agent goes on with the crashes before, as long as the sandbox of the pod runs.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff, docs/timing.md',
  watch: (truth, { maxRestartBackOffMs }) => {
    const entries = new Map<string, Entry>();
    const restarts = new Map<string, Restart>();
    /** The image and resources of the spec when an instance was removed: the agent remembers the end for these. */
    const removedAs = new Map<string, string>();
    /** Instances that the present run of their pod has asked to stop, by the run. */
    let stopped = new Map<string, string>();
    /** The crashes that each instance was created with. */
    const shown = new Map<string, number>();
    /** Instances that an agent has begun to stop, for any reason: their ends may be no crashes. */
    const doubted = new Set<string>();
    /** When the wall clock was last set: older times do not show how much time passed. Virtual milliseconds. */
    let clockSetAt = -1;
    /** The start of this life of the agent, which remembers what it has removed. Virtual milliseconds. */
    let livesSince = 0;
    /** When the power went, and when the machine booted: what ended with it has the time of the boot. Virtual milliseconds. */
    let lostAt = -1;
    let bootedAt = -1;
    const firstMs = Math.min(FIRST_MS, maxRestartBackOffMs);
    return {
      on: (event) => {
        if (event.kind === 'clock-set' || event.kind === 'runtime-clock-set') clockSetAt = event.at;
        if (event.kind === 'power-lost') lostAt = event.at;
        if (event.kind === 'booted') bootedAt = event.at;
        if (event.kind === 'agent-started') {
          stopped = new Map();
          livesSince = event.at;
          for (const [key, entry] of entries) entries.set(key, { ...entry, isOfEarlierLife: true });
        }
        if (event.kind === 'journal' && isRebirth(event.entry)) {
          const prefix = `${event.entry.pod?.uid} `;
          for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
          return undefined;
        }
        if (event.kind === 'journal' && event.entry.kind === 'event' && event.entry.reason === 'Killing') {
          const { pod, container = '' } = event.entry;
          const live = truth.pods.get(pod?.uid ?? '')?.instances.filter((one) => one.container === container) ?? [];
          for (const { containerId } of live) doubted.add(containerId);
        }
        if (event.kind === 'container-created')
          shown.set(event.containerId, restarts.get(`${event.uid} ${event.container}`)?.entry?.crashes ?? 0);
        if (event.kind === 'container-started') {
          const key = `${event.uid} ${event.container}`;
          const restart = restarts.get(key);
          restarts.delete(key);
          if (restart?.entry) entries.set(key, restart.entry);
          return undefined;
        }
        if (event.kind === 'container-removed') {
          const pod = truth.pods.get(event.uid);
          if (pod) removedAs.set(event.containerId, definitionOf(pod, event.container));
          return undefined;
        }
        if (event.kind !== 'call') return undefined;
        const { uid = '', container = '', containerId = '', image = '' } = truth.subject(event);
        const pod = truth.pods.get(uid);
        if (!pod?.pass) return undefined;
        if (event.call === 'StopContainer') stopped.set(containerId, pod.pass.id);
        if (event.call !== 'CreateContainer') return undefined;

        const key = `${uid} ${container}`;
        const hasInstance = pod.instances.some(
          (one) => one.container === container && one.removedAt === undefined && one.startedAt !== undefined,
        );
        const isRemembered = (instance: InstanceTruth): boolean =>
          !hasInstance &&
          (instance.removedAt ?? 0) >= livesSince &&
          removedAs.get(instance.containerId) === definitionOf(pod, container) &&
          hasAskedForAll(pod, instance);
        const last = newestExited(pod, container, (instance) => {
          if (instance.removedAt !== undefined && !isRemembered(instance)) return false;
          return stopped.get(instance.containerId) !== pod.pass?.id;
        });
        const resources = resourcesOf(pod, container);
        const known = entries.get(key);
        const isSame = known?.image === image && known.resources === resources && last?.image === image;
        if (known && !isSame) entries.delete(key);
        const entry = isSame ? known : undefined;
        const now = event.at;
        const { since } = pod.pass;
        const endedAt = last?.exitedAt === lostAt ? bootedAt : (last?.exitedAt ?? 0);
        const ranUntil = last && isNewest(pod, last) ? endedAt : now;
        // The stamps of the last instance are right.
        const isSure = truth.oneClockSince !== undefined && truth.oneClockSince < (last?.createdAt ?? now);
        const resetMs = RESET_AFTER_MS - (isSure ? 0 : SEEN_AFTER_MS);
        const isExpired = entry && (ranUntil - entry.since > resetMs || now - entry.since > FORGOTTEN_AFTER_MS);
        const isCrash = last !== undefined && isSureCrash(truth, last) && !doubted.has(last.containerId);
        const newest = newestLeft(pod, container);
        const shownCrashes = newest && isInReadySandbox(truth, newest) ? (shown.get(newest.containerId) ?? 0) : 0;
        const isShownNow = isCrash && shownCrashes > 0 && (newest?.createdAt ?? 0) > (isSure ? clockSetAt : Infinity);
        const shownMs = isShownNow ? firstMs * 2 ** (shownCrashes - 1) : 0;
        const isAnother = entry?.isOfEarlierLife === true;
        const knownMs = entry && !isExpired ? Math.min(entry.delayMs, isAnother ? shownMs : Infinity) : 0;
        const delayMs = knownMs === 0 ? firstMs : Math.min(2 * knownMs, maxRestartBackOffMs);
        const crashes = (knownMs === 0 ? 0 : isAnother ? shownCrashes : (entry?.crashes ?? 0)) + (isCrash ? 1 : 0);
        const kept = entry && knownMs > 0 ? { ...entry, delayMs: knownMs, isOfEarlierLife: false } : undefined;
        // An end that another life has left, and that may be none of a crash loop, does not begin a table.
        const isFirst = entry === undefined || isAnother;
        restarts.set(key, {
          entry: last && (isCrash || !isFirst) ? { image, resources, delayMs, since, crashes } : kept,
        });
        if (!last) return undefined;
        // With wrong stamps the agent only knows that it ended after its start.
        const [what, from] = isSure ? ['end', last.exitedAt] : ['start', entry?.since];
        const waited = now - (from ?? 0);
        if (knownMs === 0 || waited >= knownMs - 1 || (!isSure && !isNewest(pod, last))) return undefined;
        const message = `is restarted ${waited} ms after its ${what} (expected ${knownMs} ms at least)`;
        return [{ uid, container, message }];
      },
    };
  },
};

/** The end that the agent can have seen before its decision. */
const newestExited = (
  { instances }: PodTruth,
  container: string,
  counts: (instance: InstanceTruth) => boolean,
): InstanceTruth | undefined =>
  instances.findLast(
    (instance) =>
      instance.container === container && instance.exitedAt !== undefined && isShown(instance) && counts(instance),
  );

/** Whether the runtime has its times; an end that it has not seen is none. */
const isShown = ({ isStatusLost }: InstanceTruth): boolean => isStatusLost !== true;

/** Whether its end restarts all containers, which removes it. */
const hasAskedForAll = ({ manifest }: PodTruth, { container, exitCode }: InstanceTruth): boolean =>
  manifest !== undefined && exitCode !== undefined && asksForAll(manifest, container, exitCode);

const isNewest = ({ instances }: PodTruth, instance: InstanceTruth): boolean =>
  instances.findLast(({ container }) => container === instance.container) === instance;

/** The newest instance that the runtime still shows as one that was started. */
const newestLeft = ({ instances }: PodTruth, container: string): InstanceTruth | undefined =>
  instances.findLast(
    (one) => one.container === container && one.removedAt === undefined && one.startedAt !== undefined && isShown(one),
  );

const isInReadySandbox = ({ sandboxes }: WorldTruth, { sandboxId }: InstanceTruth): boolean => {
  const sandbox = sandboxes.get(sandboxId);
  return sandbox !== undefined && isReady(sandbox);
};

/** The runtime knows how it ended, and the sandbox runs. */
const isSureCrash = (truth: WorldTruth, instance: InstanceTruth): boolean =>
  instance.exitCode !== UNKNOWN_END.exitCode && isInReadySandbox(truth, instance);

const definitionOf = (pod: PodTruth, container: string): string =>
  `${pod.manifest && containerOf(pod.manifest, container)?.image} ${resourcesOf(pod, container)}`;

const resourcesOf = ({ manifest }: PodTruth, container: string): string =>
  JSON.stringify((manifest && containerOf(manifest, container)?.resources) ?? {});

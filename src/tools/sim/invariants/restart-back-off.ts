import { asksForAll, containerOf } from './pod-spec.js';
import type { Invariant } from './monitor.js';
import { isRebirth } from './journal-truth.js';
import type { InstanceTruth, PodTruth } from './pod-truth.js';

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
  /** From an earlier life of the agent: this one only knows the state of the runtime. */
  readonly isOfEarlierLife?: boolean;
}

/** A requested restart without an effect yet. */
interface Restart {
  readonly entry: Entry | undefined;
}

export const restartBackOff: Invariant = {
  name: 'restart-back-off',
  rule: 'A container that keeps ending waits 10 s before its second restart and then twice as long each time, up to the maximum, unless it ran for more than 10 minutes; another agent continues the back-off as far as the runtime shows enough time for the waits.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff, docs/timing.md',
  watch: (truth, { maxRestartBackOffMs }) => {
    const entries = new Map<string, Entry>();
    const restarts = new Map<string, Restart>();
    /** The image and resources of the spec when an instance was removed: the agent remembers the end for these. */
    const removedAs = new Map<string, string>();
    /** Instances that the present run of their pod has asked to stop, by the run. */
    let stopped = new Map<string, string>();
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
        const shownMs = entry?.isOfEarlierLife
          ? shownDelay(pod, container, { firstMs, clockSetAt: isSure ? clockSetAt : Infinity })
          : Infinity;
        const knownMs = entry && !isExpired ? Math.min(entry.delayMs, shownMs) : 0;
        const delayMs = knownMs === 0 ? firstMs : Math.min(2 * knownMs, maxRestartBackOffMs);
        const kept = entry && knownMs > 0 ? { ...entry, delayMs: knownMs, isOfEarlierLife: false } : undefined;
        restarts.set(key, { entry: last ? { image, resources, delayMs, since } : kept });
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

/**
 * The longest wait that another agent can know of: that of the attempt of the newest instance, as long as the one before it, half as long, fits between
 * the oldest item of the pod in the runtime and that instance. One whose start the runtime has forgotten shows nothing. Milliseconds.
 */
const shownDelay = (
  { instances, sandboxes }: PodTruth,
  container: string,
  { firstMs, clockSetAt }: { readonly firstMs: number; readonly clockSetAt: number },
): number => {
  const [newest, ...earlier] = instances
    .filter(
      ({ container: own, removedAt, startedAt }) =>
        own === container && removedAt === undefined && startedAt !== undefined,
    )
    .toReversed();
  if (!newest || !isShown(newest)) return 0;
  const left = [...earlier.filter(isShown), ...sandboxes.filter(({ removedAt }) => removedAt === undefined)];
  const oldest = Math.min(newest.createdAt, ...left.map(({ createdAt }) => createdAt));
  if (oldest <= clockSetAt) return 0;
  // The clocks of the agent and of the runtime differ by less than that.
  const roomMs = newest.createdAt - oldest - 2;
  const hasEnded = earlier.some((instance) => isShown(instance) && instance.exitedAt !== undefined);
  const fittingMs =
    roomMs < firstMs ? (hasEnded ? firstMs : 0) : firstMs * 2 ** (1 + Math.floor(Math.log2(roomMs / firstMs)));
  const ends = shownEnds(newest, instances);
  return Math.min(fittingMs, ends === 0 ? 0 : firstMs * 2 ** (ends - 1));
};

/**
 * The ends before the newest instance that count for it: those of the same image, and the last one before that. Where an image replaced that of the
 * very first instance, this may have been killed for it, and the runtime does not show which. It may have been removed since the agent saw it.
 */
const shownEnds = (newest: InstanceTruth, instances: readonly InstanceTruth[]): number => {
  const replaced = instances.findLast(
    ({ container, image, startedAt }) =>
      container === newest.container && image !== newest.image && startedAt !== undefined,
  );
  if (!replaced) return newest.attempt;
  return newest.attempt - replaced.attempt - (replaced.attempt > 0 ? 0 : 1);
};

const definitionOf = (pod: PodTruth, container: string): string =>
  `${pod.manifest && containerOf(pod.manifest, container)?.image} ${resourcesOf(pod, container)}`;

const resourcesOf = ({ manifest }: PodTruth, container: string): string =>
  JSON.stringify((manifest && containerOf(manifest, container)?.resources) ?? {});

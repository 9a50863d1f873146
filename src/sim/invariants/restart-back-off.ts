import { containerOf } from './pod-spec.js';
import type { Invariant } from './monitor.js';
import { type InstanceTruth, isRebirth, type PodTruth } from './world-truth.js';

const FIRST_MS = 10_000;
const RESET_AFTER_MS = 600_000;

/** What the next restart of a container has to wait for. */
interface Entry {
  readonly image: string;
  readonly resources: string;
  /** Milliseconds from the end of the last instance. */
  readonly delayMs: number;
  /** When the last restart was decided at the earliest, by the clock of the wall. */
  readonly since: number;
}

/** A restart that was asked for and has not taken effect. */
interface Restart {
  readonly entry: Entry | undefined;
}

export const restartBackOff: Invariant = {
  name: 'restart-back-off',
  rule: 'A container that keeps ending waits 10 s before its second restart and then twice as long each time, up to the maximum, unless it ran for more than 10 minutes; a restart of the agent changes nothing.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff, docs/timing.md',
  watch: (truth, { maxRestartBackOffMs }) => {
    const entries = new Map<string, Entry>();
    const restarts = new Map<string, Restart>();
    /** Instances that the present pass of their pod has asked to stop, by the pass. */
    let stopped = new Map<string, string>();
    const firstMs = Math.min(FIRST_MS, maxRestartBackOffMs);
    return {
      on: (event) => {
        if (event.kind === 'agent-started') stopped = new Map();
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
        if (event.kind !== 'call') return undefined;
        const { uid = '', container = '', containerId = '', image = '' } = truth.subject(event);
        const pod = truth.pods.get(uid);
        if (!pod?.pass) return undefined;
        if (event.call === 'StopContainer') stopped.set(containerId, pod.pass.id);
        if (event.call !== 'CreateContainer') return undefined;

        const key = `${uid} ${container}`;
        const last = newestExited(pod, container, (instance) => stopped.get(instance.containerId) !== pod.pass?.id);
        const resources = resourcesOf(pod, container);
        const known = entries.get(key);
        const isSame = known?.image === image && known.resources === resources && last?.image === image;
        if (known && !isSame) entries.delete(key);
        const entry = isSame ? known : undefined;
        // What a pass has decided stays decided if the clock is set back while it pulls the image.
        const now = Math.max(truth.wall(event.at), pod.pass.sinceWall);
        const since = pod.pass.sinceWall;
        const isExpired = entry && last && (last.exitedWall ?? 0) - entry.since > RESET_AFTER_MS;
        const delayMs = !entry || isExpired ? firstMs : Math.min(2 * entry.delayMs, maxRestartBackOffMs);
        restarts.set(key, { entry: last ? { image, resources, delayMs, since } : entry });
        if (!entry || !last || isExpired) return undefined;
        const waited = now - (last.exitedWall ?? 0);
        if (waited >= entry.delayMs - 1) return undefined;
        const message = `is restarted ${waited} ms after its end (expected ${entry.delayMs} ms at least)`;
        return [{ uid, container, message }];
      },
    };
  },
};

/** What the agent can have seen as ended before it decided. */
const newestExited = (
  { instances }: PodTruth,
  container: string,
  counts: (instance: InstanceTruth) => boolean,
): InstanceTruth | undefined =>
  instances.findLast(
    (instance) =>
      instance.container === container &&
      instance.exitedAt !== undefined &&
      instance.removedAt === undefined &&
      counts(instance),
  );

const resourcesOf = ({ manifest }: PodTruth, container: string): string =>
  JSON.stringify((manifest && containerOf(manifest, container)?.resources) ?? {});

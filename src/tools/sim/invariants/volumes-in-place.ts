import type { Finding, Invariant } from './monitor.js';
import { isLive, type PodTruth } from './pod-truth.js';

/** The time beside the grace period of the pod: until every call from before the quiet has ended or failed. Milliseconds. */
const SETTLED_MS = 60_000;
/** An unmount that has failed is tried again after two minutes at the latest, and orphans are found every two seconds. */
const RETRIED_MS = 130_000;

export const volumesInPlace: Invariant = {
  name: 'volumes-in-place',
  rule: 'A container is created only when every volume that it mounts is there, no volume goes while a container that mounts it runs, and none is left of a pod without a source.',
  source: 'pkg/kubelet/volumemanager/volume_manager.go',
  watch: (truth) => {
    /** The directories that containers can mount, by path, with the pod. */
    const there = new Map<string, string>();
    /** The mounted directories of the newest instance, by pod and container. */
    const mounted = new Map<string, readonly string[]>();
    const keyOf = (uid = '', container = ''): string => `${uid} ${container}`;
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'volume-made') there.set(event.path, event.uid);
        if (event.kind === 'volume-gone') {
          there.delete(event.path);
          const user = [...truth.instances.values()].find(
            (instance) =>
              instance.uid === event.uid &&
              isLive(instance) &&
              mounted.get(keyOf(instance.uid, instance.container))?.includes(event.path),
          );
          if (!user) return undefined;
          const { uid, container } = user;
          return [{ uid, container, message: `runs while its volume ${event.path} is taken down` }];
        }
        if (event.kind !== 'call' || event.call !== 'CreateContainer') return undefined;
        const { uid, container } = truth.subject(event);
        const paths = volumesIn(event.request);
        mounted.set(keyOf(uid, container), paths);
        const missing = paths.find((path) => !there.has(path));
        if (missing === undefined) return undefined;
        return [{ ...subject(uid, container), message: `is created without its volume ${missing}` }];
      },
      end: ({ at, quietSince }) => {
        const findings: Finding[] = [];
        for (const [path, uid] of there) {
          const pod = truth.pods.get(uid);
          if (pod?.wanted) continue;
          const overdueMs = at - Math.max(quietSince, pod?.specSince ?? 0) - graceMs(pod) - SETTLED_MS - RETRIED_MS;
          if (overdueMs >= 0)
            findings.push({ uid, message: `has left its volume ${path} though no source has the pod` });
        }
        return findings;
      },
    };
  },
};

const graceMs = (pod: PodTruth | undefined): number => 2 * (pod?.longestGraceSeconds ?? 0) * 1000;

const subject = (uid: string | undefined, container: string | undefined): Pick<Finding, 'uid' | 'container'> => ({
  ...(uid !== undefined && { uid }),
  ...(container !== undefined && { container }),
});

/** The volumes among the mounts of a container; the others are single files of the agent. */
const volumesIn = (request: object): readonly string[] => {
  const { config } = request as {
    readonly config?: { readonly mounts?: readonly { readonly hostPath?: string }[] };
  };
  return (config?.mounts ?? []).flatMap(({ hostPath = '' }) =>
    /\/volume(?:s|-subpaths)\//.test(hostPath) ? [hostPath] : [],
  );
};

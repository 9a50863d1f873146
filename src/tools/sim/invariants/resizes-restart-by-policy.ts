import type { KeptTruth } from './checkpoint-truth.js';
import type { Finding, Invariant } from './monitor.js';
import { isSameInRuntime, type VISIBLE } from './pod-amounts.js';
import { containerOf } from './pod-spec.js';
import { isLive, type PodTruth } from './pod-truth.js';
import { askedOf } from './resizes-are-kept.js';

export const resizesRestartByPolicy: Invariant = {
  name: 'resizes-restart-by-policy',
  rule: 'A resize restarts a container once if the policy of a changed resource asks for it, and never otherwise; what such a policy is about never changes while the container runs.',
  source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodResizeAction',
  watch: (truth) => {
    /** The instances that were stopped for a resize, by pod and container, and since when the checkpoint had what it had then. */
    const stopped = new Map<string, { readonly since: number | undefined; readonly attempt: number | undefined }>();
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'journal' && event.entry.kind === 'actions') {
          const pod = truth.pods.get(event.entry.pod?.uid ?? '');
          const names = event.entry.actions.flatMap(({ action, container, because }) =>
            action === 'kill' && because.includes(BECAUSE) && container !== undefined ? [container] : [],
          );
          return pod && names.flatMap((container) => restarted(pod, container));
        }
        if (event.kind !== 'call' || event.call !== 'UpdateContainerResources') return undefined;
        const { uid = '', container = '', containerId = '' } = truth.subject(event);
        const [pod, instance] = [truth.pods.get(uid), truth.instances.get(containerId)];
        if (!pod || !instance?.resources || !isLive(instance)) return undefined;
        const asked = askedOf(event.request);
        const { resources } = instance;
        const wrong = restartsFor(pod, container).find((name) => !isSameInRuntime(asked, resources, name));
        if (wrong === undefined) return undefined;
        return [{ uid, container, message: `gets another amount of ${wrong} while it runs (expected a restart)` }];
      },
    };

    function restarted(pod: PodTruth, container: string): readonly Finding[] {
      const { uid } = pod;
      const finding = (message: string): readonly Finding[] => [{ uid, container, message }];
      if (!restartsFor(pod, container).some((name) => hasChanged(pod, container, name)))
        return finding('is restarted by a resize, though no policy of a resource that has changed asks for it');
      const newest = pod.instances.findLast((one) => one.container === container);
      const since = sinceWhen(truth.allocated.get(uid) ?? [], container);
      const key = `${uid} ${container}`;
      const before = stopped.get(key);
      stopped.set(key, { since, attempt: newest?.attempt });
      const isAgain = before?.since === since && before?.attempt !== newest?.attempt;
      return isAgain ? finding('is restarted again by a resize that it was restarted for before') : [];
    }
  },
};

/** Since when the checkpoint has had the amounts that it has of the container. */
const sinceWhen = (kept: readonly KeptTruth[], container: string): number | undefined => {
  const text = (one: KeptTruth): string => JSON.stringify([one.containers[container], one.pod]);
  const newest = kept.at(-1);
  const other = kept.findLastIndex((one) => newest !== undefined && text(one) !== text(newest));
  return kept[other + 1]?.since;
};

const BECAUSE = 'the pod was resized';

/** The resources of which a change restarts the container. */
const restartsFor = ({ wanted }: PodTruth, container: string): readonly (keyof typeof VISIBLE)[] =>
  (wanted ? (containerOf(wanted, container)?.resizePolicy ?? []) : []).flatMap(({ resourceName, restartPolicy }) =>
    restartPolicy === 'RestartContainer' ? [resourceName as keyof typeof VISIBLE] : [],
  );

/** Whether versions of the pod have different amounts of the resource. */
const hasChanged = ({ versions }: PodTruth, container: string, resource: keyof typeof VISIBLE): boolean =>
  new Set(
    [...versions.values()].map((version) => {
      const { requests, limits } = containerOf(version, container)?.resources ?? {};
      const ofPod = version.spec.resources?.limits?.[resource];
      return `${requests?.[resource]} ${limits?.[resource] ?? ofPod}`;
    }),
  ).size > 1;

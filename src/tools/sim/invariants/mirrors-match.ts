import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { Finding, Invariant } from './monitor.js';
import { isTerminal } from './pod-spec.js';

/** A sync of a pod creates its mirror pod, and comes this often; housekeeping removes those of removed pods. */
const MADE_MS = 120_000;

export const mirrorsMatch: Invariant = {
  name: 'mirrors-match',
  rule: 'In quiet times every static pod has a mirror in the API, of its newest version and with its status, and every mirror has a pod.',
  source:
    'pkg/kubelet/pod/mirror_client.go, pkg/kubelet/kubelet.go tryReconcileMirrorPods, pkg/kubelet/kubelet_pods.go HandlePodCleanups',
  watch: (truth) => ({
    end: ({ at, quietSince }) => {
      if (!truth.hasApi || truth.life === undefined || at - Math.max(quietSince, truth.lifeSince) < MADE_MS) return [];
      const wanted = [...truth.sources].flatMap(([source, pods]) => (source === 'api' ? [] : pods));
      const mirrors = truth.apiPods.filter(isMirrorPod);
      const findings: Finding[] = [];
      for (const pod of wanted) {
        const own = truth.pods.get(pod.metadata.uid);
        if (!own || at - own.specSince < MADE_MS || own.pass || own.startDelayed) continue;
        const status = own.shown?.pod.status;
        const isOver = isTerminal(status?.phase) || own.rejectedAt !== undefined;
        const mirror = mirrors.find((one) => nameOf(one) === nameOf(pod));
        if (!mirror) {
          if (!isOver) findings.push({ uid: pod.metadata.uid, message: 'has no mirror in the API (expected one)' });
          continue;
        }
        const hash = pod.metadata.annotations?.[CONFIG_HASH_ANNOTATION];
        if (!isOver && mirror.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== hash)
          findings.push({ uid: pod.metadata.uid, message: `has the mirror of another version (expected ${hash})` });
        if (status?.phase !== undefined && mirror.status?.phase !== status.phase)
          findings.push({
            uid: pod.metadata.uid,
            message: `is ${mirror.status?.phase} in its mirror (expected ${status.phase})`,
          });
      }
      const names = new Set(wanted.map(nameOf));
      for (const mirror of mirrors)
        if (!names.has(nameOf(mirror)))
          findings.push({ uid: mirror.metadata.uid, message: 'is a mirror without a pod (expected it to be gone)' });
      return findings;
    },
  }),
};

const nameOf = ({ metadata: { namespace, name } }: Pod): string => `${namespace}/${name}`;

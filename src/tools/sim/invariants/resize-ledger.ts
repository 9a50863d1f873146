import type { TellingFacts } from '../../../model/node/node-facts.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { WorldEvent } from '../world/world-event.js';
import { amountsOfSpec, extremeOf, type Requests, requestsOf } from './pod-amounts.js';
import type { PodTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';

/** What the pods of a world were given, as far as it is certain. */
export class ResizeLedger {
  /** By UID, what the versions that this life of the agent has allocated. */
  #given = new Map<string, readonly Pod[]>();

  /** Versions that some life of the agent has not allocated, and none since then. */
  readonly #refused = new Set<Pod>();

  constructor(private readonly truth: Pick<WorldTruth, 'pods' | 'allocated'>) {}

  on(event: WorldEvent): void {
    if (event.kind === 'agent-started') this.#given = new Map();
    if (event.kind !== 'journal' || event.entry.kind !== 'resize') return;
    const { pod: { uid } = { uid: '' }, generation = 0, decision } = event.entry;
    const version = this.truth.pods.get(uid)?.versions.get(generation);
    if (!version) return;
    if (decision !== 'allocated') this.#refused.add(version);
    else {
      this.#refused.delete(version);
      this.#given.set(uid, [...(this.#given.get(uid) ?? []), version]);
    }
  }

  /** The versions of the pod that this life of the agent has allocated, the newest last. */
  allocated(uid: string): readonly Pod[] {
    return this.#given.get(uid) ?? [];
  }

  /** The least that the pod may have. */
  leastOf(pod: PodTruth): Requests {
    return this.#newest(pod) ?? extremeOf(Math.min, versionsOf(pod));
  }

  /** The most that the pod may have. */
  mostOf(pod: PodTruth): Requests {
    return (
      this.#newest(pod) ??
      extremeOf(
        Math.max,
        versionsOf(pod, (version) => !this.#refused.has(version)),
      )
    );
  }

  /** What this life of the agent has given the pod last, or else what the checkpoint says. */
  #newest({ uid, manifest }: PodTruth): Requests | undefined {
    const version = this.allocated(uid).at(-1);
    if (version) return requestsOf(version, amountsOfSpec(version));
    const kept = this.truth.allocated.get(uid)?.at(-1);
    return kept && kept.until === undefined && manifest ? requestsOf(manifest, kept) : undefined;
  }

  /** What the node has for all pods. */
  nodeOf({ allocatable = {} }: TellingFacts = {}): Requests {
    const [cpu, memory] = [allocatable['cpu'] ?? '16', allocatable['memory'] ?? '64Gi'];
    const pod = { requests: { cpu, memory } };
    return requestsOf({ metadata: NOBODY, spec: { containers: [] } }, { containers: {}, pod });
  }
}

const NOBODY = { uid: '', name: '', namespace: '' };

const versionsOf = ({ versions }: PodTruth, has: (version: Pod) => boolean = () => true): readonly Requests[] =>
  [...versions.values()].filter(has).map((version) => requestsOf(version, amountsOfSpec(version)));

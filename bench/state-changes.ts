/**
 * The cost of one change of the state: `npm run bench:state -- [pods ...]`. Each pod is set, and then its status changes again and again, as a
 * node's pods do. Once nothing follows the state, and once what follows it in an agent: the status writer, mirror pods and `pods$`.
 */
import { loadavg } from 'node:os';
import { initialState } from '../src/model/node-state/node-state.js';
import { reduce } from '../src/model/node-state/reduce.js';
import type { StateChange } from '../src/model/node-state/state-change.js';
import type { Pod } from '../src/model/pod/pod.js';
import { statusChanges } from '../src/streams/status/status-changes.js';
import { kubeletState } from '../src/streams/sync-loop/kubelet-state.js';
import { podChanges } from '../src/streams/sync-loop/pod-changes.js';

const START = '2026-01-01T00:00:00Z';
const CHANGES = 200_000;
/** Changes until the compiler of Node.js is done. */
const WARM_UP = 50_000;

const sizes = process.argv.slice(2).map(Number);
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
for (const pods of sizes.length > 0 ? sizes : [1, 110, 1_000, 10_000]) {
  const set = podsOf(pods);
  let state = initialState();
  const plain = measured((change) => (state = reduce(state, change)), set);
  const alone = kubeletState();
  const followed = kubeletState();
  statusChanges(followed).subscribe();
  statusChanges(followed).subscribe();
  podChanges(followed).subscribe();
  followed.state$.subscribe();
  const costs = [plain, measured(alone.apply, set), measured(followed.apply, set)].map((us) => us.toFixed(2));
  console.log(`${pods} pods: reduce ${costs[0]} µs, applied ${costs[1]} µs, followed ${costs[2]} µs`);
}

/** Returns the microseconds of one change of a status. */
function measured(apply: (change: StateChange) => unknown, pods: readonly Pod[]): number {
  for (const pod of pods) apply({ kind: 'pod-set', pod });
  // Two statuses that differ, made once: the comparison of statuses is part of a change, the making of them is not.
  const changes = (['Pending', 'Running'] as const).map((phase) =>
    pods.map(({ metadata: { uid } }): StateChange => ({ kind: 'status', uid, status: { phase, startTime: START } })),
  );
  const run = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      apply(changes[Math.floor(index / pods.length) % 2]![index % pods.length]!);
    }
  };
  run(WARM_UP);
  const since = process.cpuUsage();
  run(CHANGES);
  const { user, system } = process.cpuUsage(since);
  return (user + system) / CHANGES;
}

function podsOf(count: number): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      uid: `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`,
      name: `web-${index}`,
      namespace: 'default',
      annotations: {},
    },
    spec: { containers: [{ name: 'main', image: 'host' }] },
  }));
}

import { type Daemon, NODE_NAME } from './daemon.js';
import { type PodOf, SLEEP } from './manifests.js';
import type { Dice } from './seeded.js';

/** A note of every start that the container itself makes, so that no bookkeeping but its own is believed. */
const NOTE_START = 'echo "$POD_UID $$" >> "$DIR/starts-$NAME"';

/**
 * Says so when another instance of the same pod and container is alive: the lock is held until the last of its processes has
 * ended.
 */
const ALONE = 'exec 9>> "$DIR/lock-$POD_UID"; flock -n 9 || echo "$NAME $POD_UID" >> "$DIR/doubles"';

export const alone = (name: string, script: string): PodOf => ({
  name,
  containers: [{ env: [{ name: 'NAME', value: name }], script: `${ALONE}; ${NOTE_START}; ${script}` }],
});

/** Pods that come, change and go. What is wanted is known at every moment. */
export interface Churn {
  /** The version of each pod that there is to be, by its name on the node. */
  readonly wanted: ReadonlyMap<string, string>;
  /** One change of one manifest. */
  readonly step: () => void;
}

const SCRIPTS = [
  SLEEP,
  "trap 'sleep 0.2; exit 0' TERM; while :; do sleep 0.05; done",
  "trap '' TERM; while :; do sleep 0.05; done",
];

export const churn = (daemon: Daemon, names: readonly string[], { between, oneOf }: Dice): Churn => {
  const wanted = new Map<string, string>();
  let version = 0;
  const put = (name: string): void => {
    version += 1;
    daemon.apply({
      ...alone(name, oneOf(SCRIPTS)),
      labels: { version: `v${version}` },
      terminationGracePeriodSeconds: 1,
    });
    wanted.set(`${name}-${NODE_NAME}`, `v${version}`);
  };
  const remove = (name: string): void => {
    daemon.withdraw(name);
    wanted.delete(`${name}-${NODE_NAME}`);
  };
  for (const name of names) put(name);
  return {
    wanted,
    step: () => {
      const name = oneOf(names);
      if (wanted.has(`${name}-${NODE_NAME}`) && between(1, 3) === 1) remove(name);
      else put(name);
    },
  };
};

/** The version of every pod that has a running container, or runs in a ready sandbox without one; the versions of doubles are joined. */
export const runningVersions = async (daemon: Daemon): Promise<ReadonlyMap<string, string>> => {
  const [containers, sandboxes] = [await daemon.containers(), await daemon.sandboxes()];
  const live = new Set(
    containers.filter(({ state }) => state === 'CONTAINER_RUNNING').map(({ sandboxId }) => sandboxId),
  );
  const versions = new Map<string, string>();
  for (const { id, pod, labels, state } of sandboxes) {
    if (!labels.version || (state !== 'SANDBOX_READY' && !live.has(id))) continue;
    const version = live.has(id) ? labels.version : `${labels.version} without a container`;
    const other = versions.get(pod);
    versions.set(pod, other === undefined ? version : `${other} and ${version}`);
  }
  return versions;
};

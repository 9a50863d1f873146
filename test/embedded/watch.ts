import type { ContainerStatus } from '../../src/generated/runtime/v1/api.js';
import { isCriError } from '../../src/model/cri/cri-error.js';
import type { Daemon } from './daemon.js';
import type { ListedContainer } from './runtime-view.js';

/** What was seen of the runtime from beginning to end of a test. */
export interface Watch {
  /** What must never be the case, in words. */
  readonly violations: readonly string[];
  /** How often it was looked. Errors: the watch has ended early. */
  readonly looks: () => number;
  /** How containers ended, by their id. */
  readonly ends: ReadonlyMap<string, ContainerStatus>;
  /** Every container that was ever seen, by its id. */
  readonly seen: ReadonlyMap<string, ListedContainer>;
  /** Resolves after one last look, from its beginning. Errors: the runtime answered with something else than that it is not there, or not yet. */
  readonly stop: () => Promise<void>;
}

/**
 * Asks the runtime without a break what there is. No pod may ever have two live containers of one name, or two ready
 * sandboxes, and what has ended must never live again or end in another way.
 */
export const watchRuntime = (daemon: Daemon): Watch => {
  const violations = new Set<string>();
  const ends = new Map<string, ContainerStatus>();
  const seen = new Map<string, ListedContainer>();
  let looks = 0;
  let isWatching = true;
  let problem: unknown;

  const look = async (): Promise<void> => {
    const [containers, sandboxes] = [await daemon.containers(), await daemon.sandboxes()];
    const running = containers.filter(({ state }) => state === 'CONTAINER_RUNNING');
    for (const key of doubles(running.map(({ uid, name }) => `${uid}/${name}`)))
      violations.add(`two live containers: ${key}`);
    const ready = sandboxes.filter(({ state }) => state === 'SANDBOX_READY');
    for (const key of doubles(ready.map(({ uid }) => uid))) violations.add(`two ready sandboxes: ${key}`);
    for (const container of containers) {
      const { id, pod, name, state } = container;
      seen.set(id, container);
      const end = ends.get(id);
      if (end && state !== 'CONTAINER_EXITED') violations.add(`${pod}/${name} (${id}) had ended and is ${state}`);
      if (end || state !== 'CONTAINER_EXITED') continue;
      const status = await daemon.status(id).catch(ifRemoved);
      if (status) ends.set(id, status);
    }
    looks += 1;
  };

  const lookIfThere = (): Promise<void> =>
    look().catch((error: unknown) => {
      if (!isAwayOrBusy(error)) throw error;
    });
  const watching = (async () => {
    while (isWatching) {
      await lookIfThere();
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  })();
  watching.catch((error: unknown) => (problem = error));
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    isWatching = false;
    // The look under way may have begun before what the test has seen since.
    stopped ??= watching.then(lookIfThere);
    return stopped;
  };
  daemon.beforeDispose(stop);

  return {
    get violations() {
      return [...violations];
    },
    looks: () => {
      if (problem !== undefined) throw new Error('the watch has ended', { cause: problem });
      return looks;
    },
    ends,
    seen,
    stop,
  };
};

/** The runtime was killed and comes back, has just come back (as containerd says it), or has no time on a busy machine. */
const isAwayOrBusy = (error: unknown): boolean =>
  isCriError(error, 'unavailable') ||
  isCriError(error, 'deadline-exceeded') ||
  (isCriError(error, 'unknown') && error.message.includes('server is not initialized yet'));

const ifRemoved = (error: unknown): undefined => {
  if (!isCriError(error, 'not-found')) throw error;
};

const doubles = (keys: readonly string[]): string[] => [
  ...new Set(keys.filter((key, index) => keys.indexOf(key) !== index)),
];

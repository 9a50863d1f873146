import type { PodRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { Logger } from '../ports/logger.js';

/** Returns the wakes that `handle` returns for one pod; none if it throws. */
export type PodGuard = (pod: PodRef, handle: () => readonly Wake[]) => readonly Wake[];

/**
 * Keeps an error in the handling of one pod from ending the loop for all pods. Such an error is a bug, so it is logged with its
 * stack: once, until the pod is handled again or has another error.
 */
export const podGuard = (log: Pick<Logger, 'error'>): PodGuard => {
  const failing = new Map<string, string>();
  return ({ uid, namespace, name }, handle) => {
    try {
      const wakes = handle();
      failing.delete(uid);
      return wakes;
    } catch (error) {
      const text = String(error);
      const stack = error instanceof Error ? error.stack : undefined;
      if (failing.get(uid) !== text)
        log.error({ uid, namespace, name, error: stack ?? text }, 'cannot handle a pod; other pods are not affected');
      failing.set(uid, text);
      return [];
    }
  };
};

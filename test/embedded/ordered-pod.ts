import { expect } from 'vitest';
import type { PodOf } from './manifests.js';
import type { RuntimeView } from './runtime-view.js';

/** A pod whose containers write into a file when they start and stop: two init containers around a sidecar, and `main`. */
export const orderedPod = (name: string, file: string): PodOf => {
  const told = (what: string) => `echo ${what} >> "${file}"`;
  const untilTerm = (who: string, last = ':') =>
    `trap '${last}; ${told(`${who} stops`)}; cat "${file}"; exit 0' TERM; ${told(`${who} starts`)}; while :; do sleep 0.05; done`;
  return {
    name,
    terminationGracePeriodSeconds: 20,
    initContainers: [
      { name: 'first', script: `${told('first starts')}; sleep 0.3; ${told('first ends')}` },
      { name: 'sidecar', restartPolicy: 'Always', script: untilTerm('sidecar') },
      { name: 'second', script: `until grep -q sidecar "${file}"; do sleep 0.05; done; ${told('second ends')}` },
    ],
    // It takes its time to end, so that a sidecar that does not wait would be noticed.
    containers: [{ script: untilTerm('main', 'sleep 0.5') }],
  };
};

/** What its last container to stop, the sidecar, has written when it has stopped. */
export const ITS_ORDER = [
  ...['first starts', 'first ends', 'sidecar starts', 'second ends', 'main starts', 'main stops', 'sidecar stops'],
];

/** Expects, of an ordered pod that runs, that each of its containers was created only when the ones before allowed it. */
export const expectOrder = async (view: RuntimeView, pod: string): Promise<void> => {
  const statusOf = async (name: string) => {
    const [newest, ...more] = await view.containersOf(pod, name);
    expect(more).toEqual([]);
    return view.status(newest?.id ?? '');
  };
  const [first, sidecar, second, main] = await Promise.all(['first', 'sidecar', 'second', 'main'].map(statusOf));
  expect(first?.finishedAt).toBeLessThanOrEqual(sidecar?.createdAt ?? 0n);
  expect(sidecar?.startedAt).toBeLessThanOrEqual(second?.createdAt ?? 0n);
  expect(second?.finishedAt).toBeLessThanOrEqual(main?.createdAt ?? 0n);
  expect(sidecar?.state).toBe('CONTAINER_RUNNING');
};

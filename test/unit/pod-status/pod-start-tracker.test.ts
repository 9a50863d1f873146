import { describe, expect, it } from 'vitest';
import type { Pod, PodSpec } from '../../../src/model/pod/pod.js';
import { PodStartTracker } from '../../../src/model/pod-status/pod-start-tracker.js';
import { aPod } from '../../support/a-pod.js';

const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const podOf = (status?: object, spec: Partial<PodSpec> = {}, uid = 'uid-1'): Pod => {
  const pod = aPod({ uid, source: 'api', spec });
  return {
    ...pod,
    metadata: { ...pod.metadata, creationTimestamp: at(0) },
    ...(status && { status }),
  };
};

const running = {
  startTime: at(1),
  containerStatuses: [{ name: 'main', state: { running: { startedAt: at(2) } } }],
};
const unschedulable = { conditions: [{ type: 'PodScheduled', status: 'False' }] };

/** Everything that happens to a pod, and what is measured when the watch shows it for the last time at 30 s. */
const measured = (
  happens: (tracker: PodStartTracker) => void,
  last: Pod = podOf(running),
  tracker = new PodStartTracker(),
) => {
  happens(tracker);
  return tracker.watched(last, 30_000);
};

describe('the start of a pod', () => {
  it('is never negative, also after the clock was set back', () => {
    const tracker = new PodStartTracker();
    tracker.watched(podOf(), 1_000);
    tracker.written(podOf(running));
    expect(tracker.watched(podOf(running), -60_000)).toMatchObject({ total: 0, withoutPulls: 0 });
  });

  it('lasts until the watch shows what was written', () => {
    const tracker = new PodStartTracker();
    expect(tracker.watched(podOf(), 1_000)).toBeUndefined();
    expect(tracker.watched(podOf(running), 2_000)).toBeUndefined();
    tracker.written(podOf(running));
    const start = { total: 30, withoutPulls: 30, isFirstWithNetwork: true };
    expect(tracker.watched(podOf(running), 30_000)).toEqual(start);
    expect(tracker.watched(podOf(running), 31_000)).toBeUndefined();
  });

  it.each<[what: string, status: object]>([
    [
      'has not been written to run',
      { startTime: at(1), containerStatuses: [{ name: 'main', state: { waiting: {} } }] },
    ],
    ['has no container yet', { startTime: at(1) }],
  ])('is not measured of one that %s', (_what, status) => {
    const start = measured((tracker) => {
      tracker.watched(podOf(), 0);
      tracker.written(podOf(status));
    });
    expect(start).toBeUndefined();
  });

  it.each<[what: string, before: Pod]>([
    ['had started before it was seen', podOf({ startTime: at(1) })],
    ['had to wait for a place', podOf(unschedulable)],
    ['has ended', podOf({ phase: 'Failed' })],
  ])('is not measured of one that %s', (_what, before) => {
    const start = measured((tracker) => {
      tracker.watched(before, 0);
      tracker.watched(podOf({ startTime: at(1) }), 1_000);
      tracker.written(podOf(running));
    });
    expect(start).toBeUndefined();
  });

  it('does not count one that turns out to have waited for a place', () => {
    const start = measured((tracker) => {
      tracker.watched(podOf(), 0);
      tracker.watched(podOf({ ...unschedulable, startTime: at(1) }), 1_000);
      tracker.written(podOf(running));
    });
    expect(start).toBeUndefined();
  });

  it('leaves out pulls, overlapping ones once, and init containers', () => {
    const spec = { initContainers: [{ name: 'init' }, { name: 'side', restartPolicy: 'Always' }] };
    const ran = { terminated: { startedAt: at(20), finishedAt: at(23) } };
    const last = podOf(
      {
        ...running,
        initContainerStatuses: [
          { name: 'init', state: ran },
          { name: 'side', state: ran },
        ],
      },
      spec,
    );
    const start = measured((tracker) => {
      tracker.watched(podOf(undefined, spec), 0);
      tracker.pullStarted('uid-1', 1_000);
      tracker.pullStarted('uid-1', 4_000);
      tracker.pullEnded('uid-1', 5_000);
      tracker.pullEnded('uid-1', 6_000);
      tracker.pullStarted('uid-1', 10_000);
      tracker.pullEnded('uid-1', 12_000);
      tracker.pullStarted('uid-1', 13_000);
      tracker.pullEnded('other', 14_000);
      tracker.written(last);
    }, last);
    expect(start).toEqual({ total: 30, withoutPulls: 30 - 5 - 2 - 3, isFirstWithNetwork: true });
  });

  it.each<[what: string, spec: Partial<PodSpec>, expected: object]>([
    [
      'with a claim only in all',
      { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
      { total: 30 },
    ],
    [
      'with files that the cluster has',
      {
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'w', secret: {} },
        ],
      },
      { total: 30, withoutPulls: 30, isFirstWithNetwork: true },
    ],
    ['on the network of the node', { hostNetwork: true }, { total: 30, withoutPulls: 30, isFirstWithNetwork: false }],
  ])('counts one %s', (_what, spec, expected) => {
    const start = measured(
      (tracker) => {
        tracker.watched(podOf(undefined, spec), 0);
        tracker.written(podOf(running, spec));
      },
      podOf(running, spec),
    );
    expect(start).toMatchObject(expected);
    if (!('withoutPulls' in expected)) expect(start).not.toHaveProperty('withoutPulls');
  });

  it('is first with a network once, and forgets pods that are gone', () => {
    const tracker = new PodStartTracker();
    const second = podOf(running, {}, 'uid-2');
    const start = (pod: Pod) =>
      measured(
        () => {
          tracker.watched({ ...pod, status: {} }, 0);
          tracker.written(pod);
        },
        pod,
        tracker,
      );
    expect(start(podOf(running))).toMatchObject({ isFirstWithNetwork: true });
    expect(start(second)).toMatchObject({ isFirstWithNetwork: false });
    tracker.retain(new Set());
    // As if it had never been seen.
    expect(start(podOf(running))).toMatchObject({ total: 30 });
  });
});

import { NEVER, takeUntil, timer } from 'rxjs';
import { expect, it } from 'vitest';
import { type KubeletState, kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { STATUS_SYNC_PERIOD_MS, statusManager } from '../../../src/streams/status/status-manager.js';
import { aPod } from '../../support/a-pod.js';
import { metricLines } from '../../support/metric-lines.js';
import { byHop } from '../by-hop.js';

it('compares many statuses in parts, a hop of the scheduler after each other', () => {
  const hops = byHop((scheduler, passed) => {
    const { metrics } = metricLines();
    const state = kubeletState();
    for (let index = 0; index < 40; index++) {
      const pod = aPod({ uid: `uid-${index}`, name: `p${index}`, source: 'api' });
      state.apply({ kind: 'pod-set', pod: { ...pod, metadata: { ...pod.metadata, resourceVersion: '1' } } });
      state.apply({ kind: 'status', uid: pod.metadata.uid, status: { phase: 'Running' } });
    }
    const { statuses } = state;
    const watched: KubeletState['statuses'] = {
      get: (uid) => statuses.get(uid),
      uids: () => statuses.uids(),
      isReborn: (uid) => statuses.isReborn(uid),
      stored: (uid) => {
        passed('s');
        return statuses.stored(uid);
      },
    };
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const workers = { couldHaveRunningContainers: () => false };
    const api = { patchLate: () => NEVER, get: () => NEVER, delete: () => NEVER };
    statusManager({
      ...{ api, metrics, log, scheduler },
      state: { ...state, statuses: watched, workers },
      wallClock: () => 0,
    })
      .run$.pipe(takeUntil(timer(STATUS_SYNC_PERIOD_MS + 1, scheduler)))
      .subscribe();
  });
  expect(Math.max(...hops.map(({ length }) => length))).toBe(16);
});

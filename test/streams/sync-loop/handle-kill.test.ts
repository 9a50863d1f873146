import { expect, it } from 'vitest';
import { handleKill } from '../../../src/streams/sync-loop/handle-kill.js';
import type { KillOptions, RecordedKill } from '../../../src/model/pod-workers/pod-update.js';
import { aPod } from '../../support/a-pod.js';
import { brief, loopStage } from '../../support/loop-stage.js';

const running = () => {
  const stage = loopStage({}, { now: 7 });
  stage.state.workers.update({ type: 'create', pod: aPod(), causes: [] }, 0);
  stage.state.workers.start('uid-1', 0);
  return { ...stage, kill: handleKill(stage.context) };
};
const request = (kill: KillOptions): RecordedKill => ({
  ...{ pod: aPod(), kill, reason: 'the machine shuts down', cause: 'j0' },
});

it('a request to kill a pod cancels its sync, with a grace period, a status and its cause', () => {
  const stage = running();
  const statusOverride = () => ({ phase: 'Failed' });
  expect(brief(stage.kill(request({ graceSeconds: 4, statusOverride })))).toEqual(['cancel uid-1']);
  const record = stage.state.workers.record('uid-1');
  expect([record?.graceSeconds, record?.statusOverride, record?.terminatingAt]).toEqual([4, statusOverride, 7]);
  expect(record?.evicted).toBe(false);
  expect(record?.pending).toMatchObject({ type: 'kill', startedAt: 7, causes: ['j0'] });
});

it('a second request only shortens the grace period', () => {
  const stage = running();
  const graces = [4, 9, 2].map((graceSeconds) => {
    stage.kill(request({ graceSeconds }));
    return stage.state.workers.record('uid-1')?.graceSeconds;
  });
  expect(graces).toEqual([4, 4, 2]);
});

it('a request that throws is logged, and the loop goes on', () => {
  const stage = running();
  const kill = handleKill({
    ...stage.context,
    scheduler: {
      ...stage.context.scheduler,
      now: () => {
        throw new Error('a bug');
      },
    },
  });
  expect(kill(request({}))).toEqual([]);
  expect(stage.logged).toEqual(['error cannot handle a pod; other pods are not affected']);
});

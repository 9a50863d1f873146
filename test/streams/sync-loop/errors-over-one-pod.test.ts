import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { Wake } from '../../../src/model/pod-workers/wake.js';
import { handleHousekeeping } from '../../../src/streams/sync-loop/handle-housekeeping.js';
import { handleProbe } from '../../../src/streams/sync-loop/handle-probe.js';
import { handleRuntimeChange } from '../../../src/streams/sync-loop/handle-runtime-change.js';
import { handleStop } from '../../../src/streams/sync-loop/handle-stop.js';
import { handleWorkDue } from '../../../src/streams/sync-loop/handle-work-due.js';
import { aProbedPod, aProbeWorker } from '../../support/a-probe.js';
import { type LoopStage, loopStage } from '../../support/loop-stage.js';

const podOf = (uid: string, deletionTimestamp?: string): Pod =>
  aProbedPod('readiness', undefined, { uid, name: uid, ...(deletionTimestamp && { deletionTimestamp }) });
const wanted = ['bad', 'good'].map((uid) => podOf(uid));
const refOf = (uid: string) => ({ uid, name: uid, namespace: 'default' });

const want =
  (pods: readonly Pod[]) =>
  ({ state }: LoopStage): void => {
    state.apply({ kind: 'source-ready', source: 'file' });
    for (const pod of pods) state.apply({ kind: 'pod-set', pod });
  };
const work = (stage: LoopStage): void => {
  want(wanted)(stage);
  for (const pod of wanted) stage.state.workers.update({ type: 'create', pod, causes: [] }, 0);
};

type Row = readonly [what: string, before: (stage: LoopStage) => void, handle: (stage: LoopStage) => readonly Wake[]];

describe('an error over one pod ends no loop, and keeps the other pods from nothing', () => {
  it.each<Row>([
    [
      'a change of the runtime',
      want(wanted),
      ({ context }) =>
        wanted.flatMap(({ metadata: { uid } }) =>
          handleRuntimeChange(context)({ pod: refOf(uid), type: 'ContainerDied', id: 'c1', container: 'main' }),
        ),
    ],
    [
      'the result of a probe',
      want(wanted),
      ({ context }) =>
        wanted.flatMap((pod) =>
          handleProbe(
            context,
            () => undefined,
          )({ worker: aProbeWorker('readiness', {}, pod), containerId: 'c1', result: 'failure', output: 'no' }),
        ),
    ],
    [
      'work that is due',
      (stage) => {
        want(wanted)(stage);
        for (const { metadata } of wanted) stage.state.workQueue.enqueue(metadata.uid, 10, 'why');
      },
      ({ context }) => handleWorkDue(context)(),
    ],
    ['a request to stop', work, ({ context }) => handleStop(context)({ reason: 'the node goes down' })],
    ['a wanted pod without a worker', want(wanted), ({ context }) => handleHousekeeping(context)([])],
    [
      'a pod that runs and is not wanted',
      want([]),
      ({ context }) =>
        handleHousekeeping(context)(['bad', 'good'].map((uid) => ({ ...refOf(uid), items: [], observedAt: 0 }))),
    ],
    [
      'a rejected pod that was deleted',
      (stage) => {
        want(['bad', 'good'].map((uid) => podOf(uid, '1970-01-01T00:00:00Z')))(stage);
        for (const uid of ['bad', 'good']) {
          stage.state.apply({ kind: 'status', uid, status: { phase: 'Failed' } });
          stage.state.apply({ kind: 'admission-decided', uid, isAdmitted: false });
        }
      },
      ({ context }) => handleHousekeeping(context)([]),
    ],
  ])('%s', (_, before, handle) => {
    const stage = loopStage(
      {
        record: ({ pod }) => {
          if (pod?.uid === 'bad') throw new TypeError('cannot read that');
          return 'j1';
        },
      },
      { now: 11 },
    );
    before(stage);
    expect(handle(stage).map(({ uid }) => uid)).toEqual(['good']);
    expect(stage.logged).toEqual(['error cannot handle a pod; other pods are not affected']);
  });
});

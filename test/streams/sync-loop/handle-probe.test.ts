import { describe, expect, it } from 'vitest';
import type { ProbeResult, ProbeType } from '../../../src/model/probes/probe-worker.js';
import type { ProbeChange } from '../../../src/streams/probes/probe-worker.js';
import { handleProbe } from '../../../src/streams/sync-loop/handle-probe.js';
import { aProbedPod, aProbedStatus, aProbeWorker } from '../../support/a-probe.js';
import { brief, loopStage } from '../../support/loop-stage.js';

const stageOf = (type: ProbeType, main: Parameters<typeof aProbedStatus>[0] = {}) => {
  const pod = aProbedPod(type);
  const stage = loopStage();
  stage.state.apply({ kind: 'pod-set', pod });
  stage.state.apply({ kind: 'status', uid: 'uid-1', status: aProbedStatus(main) });
  const looks: string[] = [];
  const handle = handleProbe(stage.context, (uid) => looks.push(uid));
  const change = (result: ProbeResult, output?: string, containerId = 'c1'): ProbeChange => ({
    ...{ worker: aProbeWorker(type, {}, pod), containerId, result },
    ...(output !== undefined && { output }),
  });
  const main$ = () => stage.state.statuses.get('uid-1')?.containerStatuses?.[0];
  return { ...stage, looks, handle, change, main: main$ };
};

describe('what a probe has found out', () => {
  it.each<[ProbeType, ProbeResult, readonly string[]]>([
    ['readiness', 'success', ['wake uid-1']],
    ['readiness', 'failure', ['wake uid-1']],
    ['startup', 'success', ['wake uid-1']],
    ['startup', 'failure', ['wake uid-1']],
    ['liveness', 'failure', ['wake uid-1']],
    ['liveness', 'success', []],
  ])('%s %s: %j, by an entry that says why', (type, result, wakes) => {
    const { handle, change, records } = stageOf(type);
    expect(brief(handle(change(result, 'said')))).toEqual(wakes);
    const entry = { kind: 'probe', probe: type, result, output: 'said', container: 'main' };
    expect(records).toMatchObject(wakes.length > 0 ? [entry] : []);
  });

  it.each<[ProbeType, ProbeResult, object, object, readonly string[]]>([
    ['readiness', 'success', { ready: false }, { ready: true, started: true }, ['uid-1']],
    ['readiness', 'failure', { ready: true }, { ready: false, started: true }, ['uid-1']],
    ['readiness', 'success', { ready: true }, { ready: true, started: true }, []],
    ['startup', 'success', { started: false }, { ready: false, started: true }, ['uid-1']],
    ['liveness', 'failure', { ready: true }, { ready: true, started: true }, []],
  ])(
    '%s %s shows in the status at once, of %j makes %j, and the other probes look: %j',
    (type, result, before, after, looked) => {
      const { handle, change, main, looks, context } = stageOf(type, before);
      // The conditions of a status that was made by hand are none.
      context.state.apply({
        kind: 'status',
        uid: 'uid-1',
        status: { ...context.state.statuses.get('uid-1'), conditions: [] },
      });
      handle(change(result, ''));
      expect(main()).toMatchObject(after);
      expect(looks).toEqual(looked);
    },
  );

  it('only changes the status of a container without a probe', () => {
    const { handle, change, main, records } = stageOf('readiness', { ready: true });
    expect(handle(change('failure'))).toEqual([]);
    expect(main()?.ready).toBe(false);
    expect(records).toEqual([]);
  });

  it('of another instance than the status shows changes nothing in it', () => {
    const { handle, change, main } = stageOf('readiness', { ready: true });
    handle(change('failure', 'late', 'c0'));
    expect(main()?.ready).toBe(true);
  });

  it('of a pod that no source wants any more is dropped', () => {
    const { handle, change, context, records } = stageOf('liveness');
    context.state.apply({ kind: 'pod-removed', pod: aProbedPod('liveness') });
    expect(handle(change('failure', 'no'))).toEqual([]);
    expect(records).toEqual([]);
  });

  it.each([
    ['short', 'short'],
    ['x'.repeat(1024), 'x'.repeat(1024)],
    ['x'.repeat(1025), `${'x'.repeat(1023)}…`],
  ])('keeps the beginning of its output in the journal', (output, kept) => {
    const { handle, change, records } = stageOf('readiness');
    handle(change('failure', output));
    expect(records[0]).toMatchObject({ output: kept });
  });
});

import { merge, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { RuntimePodRun } from '../../../src/streams/pod-workers/pod-workers.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { podWorkStage, stopped } from '../../support/pod-work-stage.js';
import { marbles } from '../../marbles/marbles.js';

const away = new CriError('unavailable', 'any', 'away');
const running = aRuntimeStatus([aContainer({ name: 'main' })]);
const nothing = aRuntimeStatus([], []);

describe('stopping a pod', () => {
  it(
    'kills it with the grace of the run, confirms that nothing runs, and keeps its addresses',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod: aPod({ source: 'api' }), fresh: of({ ...stopped, ips: [] }) });
      stage.play(stage.work.syncTerminatingPod(stage.run(running, { graceSeconds: 5 })));
      expect(stage.results).toEqual(['|']);
      expect(stage.calls).toEqual(['stop id-main 5', 'stop sandbox']);
      expect(stage.state.statuses.get('uid-1')).toMatchObject({ podIP: '10.0.0.1', phase: 'Failed' });
      expect(stage.relists).toEqual(['uid-1']);
    }),
  );

  it(
    'is not over while a container runs, with any answer of the runtime',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { fresh: of(running) });
      stage.play(stage.work.syncTerminatingPod(stage.run(running)));
      expect(stage.results).toEqual([
        'Error: detected running containers after a successful KillPod, CRI violation: [id-main]',
        '|',
      ]);
      expect(stage.state.statuses.get('uid-1')?.phase).toBe('Running');
      // All its effects are to be seen.
      expect(stage.relists).toEqual(['uid-1']);
    }),
  );

  it.each([
    { case: 'it cannot be killed', runtime: { stopContainer: () => throwError(() => away) }, isEvent: true },
    { case: 'it cannot be looked at afterwards', fresh: throwError(() => away), isEvent: false },
  ])('fails when $case', ({ isEvent, ...scene }) => {
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, scene);
      stage.play(stage.work.syncTerminatingPod(stage.run(running)));
      expect(stage.results[0]).toMatch(/away$/);
      expect(stage.events.some((event) => event.startsWith('FailedKillPod error killing pod:'))).toBe(isEvent);
    })();
  });

  it(
    'has the message of the request in its status, before and after',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler);
      const seen: unknown[] = [];
      stage.play(
        merge(
          stage.work.syncTerminatingPod(
            stage.run(running, { statusOverride: (status) => ({ ...status, reason: `Evicted ${seen.push(0)}` }) }),
          ),
        ),
      );
      expect(stage.state.statuses.get('uid-1')?.reason).toBe('Evicted 2');
    }),
  );

  const orphan = { uid: 'uid-1', namespace: 'default', name: 'web', items: [], observedAt: 0 };
  const runtimeRun = (graceSeconds: number): RuntimePodRun => ({
    ...{ uid: 'uid-1', work: 'terminating', type: 'kill', isFirst: true, lastSyncAt: 0, causes: [] },
    runningPod: orphan,
    graceSeconds,
  });

  it(
    'of which only the runtime knows takes what the runtime reports of it, and leaves no status',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { fresh: of(running) });
      stage.play(stage.work.syncTerminatingRuntimePod(runtimeRun(1)));
      expect(stage.calls).toEqual(['stop id-main 2', 'stop sandbox']);
      expect(stage.results).toEqual(['|']);
      expect(stage.state.statuses.get('uid-1')).toBeUndefined();
      expect(stage.relists).toEqual(['uid-1']);
    }),
  );

  it(
    'of which only the runtime knows fails with an event when it cannot be killed',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, {
        fresh: of(running),
        runtime: { stopPodSandbox: () => throwError(() => away) },
      });
      stage.play(stage.work.syncTerminatingRuntimePod(runtimeRun(1)));
      expect(stage.results[0]).toBe('PodSyncError: KillPodSandboxError: sandbox sandbox: away');
      expect(stage.events.at(-1)).toBe('FailedKillPod error killing pod: KillPodSandboxError: sandbox sandbox: away');
    }),
  );
});

describe('a pod that has stopped', () => {
  it.each([
    { case: 'of the API has failed', pod: aPod({ source: 'api' }), phase: 'Failed' },
    { case: 'that succeeded stays so', pod: aPod({ source: 'api' }), before: 'Succeeded', phase: 'Succeeded' },
  ])('$case, and is finished', ({ pod, before, phase }) => {
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod });
      stage.state.apply({ kind: 'status', uid: 'uid-1', status: { phase: before ?? 'Running' } });
      stage.play(stage.work.syncTerminatedPod(stage.run(nothing), new AbortController().signal));
      expect(stage.results).toEqual(['|']);
      expect(stage.state.statuses.stored('uid-1')).toMatchObject({ isFinished: true, status: { phase } });
      expect(stage.calls).toEqual([]);
    })();
  });

  it(
    'counts a container without a seen end as ended',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler);
      stage.sync(running);
      stage.play(stage.work.syncTerminatedPod(stage.run(nothing), new AbortController().signal));
      expect(stage.state.statuses.get('uid-1')?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
      });
    }),
  );
});

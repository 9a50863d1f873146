import { EMPTY, of, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { podWorkStage } from '../../support/pod-work-stage.js';
import { noFiles } from '../../support/sync-context.js';
import { marbles } from '../../marbles/marbles.js';

const nothing = aRuntimeStatus([], []);

describe('a pod under Never of which the runtime has forgotten that it ran', () => {
  const lost = aRuntimeStatus(
    [aContainer({ id: 'a', name: 'main', state: 'created', startedAt: 0n })],
    [aSandbox({ state: 'SANDBOX_NOTREADY' })],
  );
  const pod = aPod({ spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'host' }] } });
  const node = { ...nodeFacts, bootId: 'boot-2' };
  const marked = { ...noFiles, listDirectory: () => of(['boot-1']) };

  it(
    'was marked before its start, which waits for the mark',
    marbles(({ scheduler }) => {
      const full = new Error('ENOSPC');
      const keepDirectory = [EMPTY, throwError(() => full)];
      const starts = keepDirectory.map((mark$) => {
        const files = {
          ...noFiles,
          keepDirectory: (path: string) => mark$.pipe(tap({ subscribe: () => kept.push(path) })),
        };
        const kept: string[] = [];
        const stage = podWorkStage(scheduler, { pod, node, files });
        stage.sync(nothing);
        return [kept, stage.calls, stage.events.filter((text) => text.startsWith('Failed'))];
      });
      const mark = '/root-dir/pods/uid-1/begun-starts/new/boot-2';
      expect(starts).toEqual([
        [[mark], ['sandbox', 'create', 'start'], []],
        [[mark], ['sandbox', 'create'], ['Failed Error: ENOSPC']],
      ]);
    }),
  );

  it(
    'has failed, and does not run again',
    marbles(({ scheduler }) => {
      const stage = podWorkStage(scheduler, { pod, node, files: marked });
      stage.sync(lost);
      expect(stage.results).toEqual(['terminal', '|']);
      expect(stage.calls).toEqual([]);
      expect(stage.state.statuses.get('uid-1')).toMatchObject({
        phase: 'Failed',
        containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } }],
      });
    }),
  );

  it(
    'runs in the boot that has marked it: it was not started',
    marbles(({ scheduler }) => {
      const files = { ...noFiles, listDirectory: () => of(['boot-2']) };
      const runtime = { containerStatus: () => throwError(() => new CriError('not-found', 'any', 'gone')) };
      const removeContainer = () => of({});
      const stage = podWorkStage(scheduler, { pod, node, files, runtime: { ...runtime, removeContainer } });
      stage.sync(lost);
      expect(stage.calls).toEqual(['stop sandbox', 'sandbox', 'create', 'start']);
    }),
  );

  it(
    'waits while the marks cannot be read, and still stops',
    marbles(({ scheduler }) => {
      const files = { ...noFiles, listDirectory: () => throwError(() => new Error('EIO')) };
      const stage = podWorkStage(scheduler, { pod, node, files });
      stage.sync(lost);
      expect(stage.results).toEqual(['Error: EIO', '|']);
      stage.play(stage.work.syncTerminatingPod(stage.run(lost)));
      expect(stage.results).toEqual(['Error: EIO', '|', '|']);
    }),
  );
});

import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import {
  agentStarted,
  answered,
  begin,
  create,
  created,
  exited,
  forgotten,
  heard,
  journal,
  never,
  onFailure,
  pass,
  passEnded,
  removed,
  type Rows,
  runSandbox,
  started,
  startLost,
  stop,
  upToDate,
  wanted,
  wantedByApi,
  withInit,
  withSidecar,
} from '../story.js';

const ownNever = aPod({ spec: { containers: [{ name: 'main', image: 'host', restartPolicy: 'Never' }] } });

/** The status in the API has the end of an instance; then the machine boots. */
const shownBeforeBoot = (exitCode: number, pod = onFailure): readonly (WorldEvent | readonly WorldEvent[])[] => [
  agentStarted(0),
  wantedByApi(0, pod),
  started(1, 'a'),
  exited(2, 'a', exitCode),
  {
    ...{ kind: 'api-changed', at: 3_000, resource: 'pods', type: 'MODIFIED', by: 'agent' },
    object: {
      ...pod,
      metadata: { ...pod.metadata, resourceVersion: '2' },
      status: {
        containerStatuses: [
          {
            ...{ name: 'main', image: 'host', imageID: 'host', ready: false, restartCount: 0, containerID: 'sim://a' },
            state: { terminated: { exitCode, containerID: 'sim://a' } },
          },
        ],
      },
    },
  },
  exited(4, 'a', 255),
  { kind: 'booted', at: 5_000, bootId: 'two' },
  agentStarted(5, 2),
];

export const endRows: Rows = {
  'grace-only-shrinks': [
    [
      'time is given back',
      [begin, upToDate, pass(5, 'terminating', 5), passEnded(6, 'terminating'), pass(7, 'terminating', 30)],
      'grace went from 5 s to 30 s',
    ],
    [
      'a container has more than its pod',
      [begin, upToDate, pass(5, 'terminating', 5), stop(6, 'a', 30)],
      'but the pod has 5 s',
    ],
    [
      'a container has less than the least',
      [begin, upToDate, pass(5, 'terminating', 5), stop(6, 'a', 1)],
      'expected at least 2 s',
    ],
    [
      'more than was asked for',
      [begin, upToDate, pass(5), stop(6, 'a', 31)],
      'nothing in the pod asks for more than 30 s',
    ],
    [
      'it is more than the deletion that was received',
      [
        begin,
        upToDate,
        heard(5, 'DELETE', 5),
        pass(6, 'terminating', 5),
        heard(7, 'DELETE', 2),
        pass(8, 'terminating', 5),
      ],
      'grace went from 2 s to 5 s',
    ],
    [
      'it is that of the deletion that was received, while the API has a shorter one',
      [
        begin,
        upToDate,
        wanted(5, aPod({ source: 'api', deletionGracePeriodSeconds: 2 })),
        heard(5, 'DELETE', 5),
        pass(6, 'terminating', 5),
      ],
    ],
    [
      'it shrinks',
      [
        begin,
        upToDate,
        pass(5, 'terminating', 30),
        stop(6, 'a', 30),
        passEnded(7, 'terminating'),
        pass(8, 'terminating', 1),
        stop(9, 'a', 2),
      ],
    ],
    ['a pod that has come back', [begin, pass(5, 'terminating', 5), forgotten(6), pass(7, 'terminating', 30)]],
  ],
  'no-start-after-termination': [
    [
      'a sync after the end began',
      [begin, pass(1, 'terminating', 30), passEnded(2, 'terminating'), pass(3)],
      'a sync began after it was terminating',
    ],
    [
      'a container is made after the deletion was received',
      [begin, pass(1), heard(2, 'DELETE'), create(3)],
      'CreateContainer was called after its deletion',
    ],
    [
      'the deletion does not reach the sync while the runtime is ill',
      [begin, pass(1), journal(2, { kind: 'runtime-health', healthy: false }), heard(3, 'DELETE'), create(4)],
    ],
    [
      'a container is made after the runtime is well again',
      [
        ...[begin, pass(1), journal(2, { kind: 'runtime-health', healthy: false }), heard(3, 'DELETE')],
        ...[journal(4, { kind: 'runtime-health', healthy: true }), create(5)],
      ],
      'CreateContainer was called after its deletion',
    ],
    [
      'an ended pod is started again',
      [
        begin,
        pass(1, 'terminated'),
        journal(2, { kind: 'housekeeping', finding: 'the pod is wanted and nothing works on it: it is started' }),
      ],
      'without having been added again',
    ],
    [
      'what was made is started',
      [begin, pass(1), created(2, 'a'), heard(2, 'DELETE'), answered(3, 'StartContainer', { containerId: 'a' })],
    ],
    [
      'a pod that has come back is started again',
      [
        begin,
        pass(1, 'terminating', 30),
        heard(2, 'ADD'),
        journal(3, { kind: 'housekeeping', finding: 'the pod is wanted and nothing works on it: it is started' }),
        pass(4),
        runSandbox(5),
      ],
    ],
    ['forgotten, then wanted again', [begin, pass(1, 'terminating', 30), passEnded(2), forgotten(3), pass(4)]],
  ],
  'stop-order': [
    [
      'the sidecar goes first',
      [
        agentStarted(0),
        wanted(0, withSidecar),
        started(1, 's', { container: 'side' }),
        started(2, 'a'),
        pass(3),
        passEnded(4),
        pass(5, 'terminating', 30),
        stop(6, 's'),
      ],
      'was stopped while main ran',
    ],
    [
      'the sidecar goes last',
      [
        agentStarted(0),
        wanted(0, withSidecar),
        started(1, 's', { container: 'side' }),
        started(2, 'a'),
        pass(3),
        passEnded(4),
        pass(5, 'terminating', 30),
        exited(6, 'a'),
        stop(7, 's'),
      ],
    ],
    [
      'the time is over',
      [
        agentStarted(0),
        wanted(0, withSidecar),
        started(1, 's', { container: 'side' }),
        started(2, 'a'),
        pass(3),
        passEnded(4),
        pass(5, 'terminating', 30),
        stop(35, 's'),
      ],
    ],
    [
      'the other one cannot be stopped',
      [
        agentStarted(0),
        wanted(0, withSidecar),
        started(1, 's', { container: 'side' }),
        started(2, 'a'),
        pass(3),
        passEnded(4),
        pass(5, 'terminating', 30),
        answered(6, 'StopContainer', { containerId: 'a', timeout: 30n }, 'it hangs'),
        stop(7, 's'),
      ],
    ],
  ],
  'init-order': [
    [
      'before its init container',
      [agentStarted(0), wanted(0, withInit), started(1, 'a')],
      'before init container init had succeeded',
    ],
    [
      'after one that failed',
      [
        agentStarted(0),
        wanted(0, withInit),
        started(1, 'i', { container: 'init' }),
        exited(2, 'i', 1, { container: 'init' }),
        started(3, 'a'),
      ],
      'had succeeded',
    ],
    [
      'after one of another sandbox',
      [
        agentStarted(0),
        wanted(0, withInit),
        started(1, 'i', { container: 'init' }),
        exited(2, 'i', 0, { container: 'init' }),
        started(3, 'a', { sandboxId: 's2' }),
      ],
      'in its sandbox',
    ],
    [
      'after its init container',
      [
        agentStarted(0),
        wanted(0, withInit),
        started(1, 'i', { container: 'init' }),
        exited(2, 'i', 0, { container: 'init' }),
        started(3, 'a'),
      ],
    ],
    [
      'beside its sidecar',
      [agentStarted(0), wanted(0, withSidecar), started(1, 's', { container: 'side' }), started(3, 'a')],
    ],
  ],
  'restart-policy-kept': [
    [
      'Never',
      [agentStarted(0), wanted(0, never), started(1, 'a'), exited(2, 'a', 1), started(3, 'b')],
      'expected policy Never to leave it',
    ],
    [
      'OnFailure after a success',
      [agentStarted(0), wanted(0, onFailure), started(1, 'a'), exited(2, 'a', 0), started(3, 'b')],
      'expected policy OnFailure',
    ],
    [
      'Never of a pod, after a boot that has forgotten its start',
      [agentStarted(0), wanted(0, never), started(1, 'a'), startLost(4, 'a'), started(6, 'b', { sandboxId: 's2' })],
      'though it had run before and its pod has the policy Never',
    ],
    [
      'OnFailure of a pod, after such a boot',
      [agentStarted(0), wanted(0, onFailure), started(1, 'a'), startLost(4, 'a'), started(6, 'b', { sandboxId: 's2' })],
    ],
    [
      'Never of a pod, after such a boot with another image',
      [agentStarted(0), wanted(0, never), started(1, 'a'), startLost(4, 'a'), started(6, 'b', { image: 'new' })],
    ],
    [
      'an end that the API shows and the runtime has lost',
      [shownBeforeBoot(0), started(6, 'b', { attempt: 1 })],
      'was started again after the boot, though the API shows its end with 0',
    ],
    ['a failure that the API shows', [shownBeforeBoot(1), started(6, 'b', { attempt: 1 })]],
    [
      'Never of a container that stays in its sandbox, after such an end',
      [shownBeforeBoot(1, ownNever), started(6, 'b', { attempt: 1 })],
      'was started again after the boot, though the API shows its end with 1',
    ],
    [
      'Never of a container, in another sandbox after such an end',
      [shownBeforeBoot(1, ownNever), started(6, 'b', { sandboxId: 's2' })],
    ],
    ['another image after such an end', [shownBeforeBoot(0), started(6, 'b', { attempt: 1, image: 'other' })]],
    [
      'OnFailure after a failure',
      [agentStarted(0), wanted(0, onFailure), started(1, 'a'), exited(2, 'a', 1), started(3, 'b')],
    ],
    [
      'OnFailure after its probe failed',
      [
        agentStarted(0),
        wanted(0, onFailure),
        started(1, 'a'),
        pass(2),
        stop(2, 'a'),
        exited(3, 'a', 0),
        started(3, 'b'),
      ],
    ],
    [
      'OnFailure after its probe failed, when the instance that was made could not be started at first',
      [
        ...[agentStarted(0), wanted(0, onFailure), started(1, 'a'), pass(2), stop(2, 'a'), exited(3, 'a', 0)],
        ...[created(3, 'b'), passEnded(3), pass(20), removed(20, 'b'), created(20, 'c'), started(20, 'c')],
      ],
    ],
    [
      'OnFailure after a success, when the first instance that was made could not be started',
      [
        ...[agentStarted(0), wanted(0, onFailure), started(1, 'a'), exited(3, 'a', 0)],
        ...[pass(3), created(3, 'b'), passEnded(3), pass(20), removed(20, 'b'), created(20, 'c'), started(20, 'c')],
      ],
      'expected policy OnFailure',
    ],
    [
      'another image',
      [agentStarted(0), wanted(0, never), started(1, 'a'), exited(2, 'a', 1), started(3, 'b', { image: 'new' })],
    ],
    [
      'Never, in another sandbox',
      [agentStarted(0), wanted(0, never), started(1, 'a'), exited(2, 'a', 1), started(3, 'b', { sandboxId: 's2' })],
      'expected policy Never to leave it',
    ],
    [
      'Never, in another sandbox, of which nothing is left',
      [
        agentStarted(0),
        wanted(0, never),
        started(1, 'a'),
        exited(2, 'a', 1),
        removed(2, 'a'),
        started(3, 'b', { sandboxId: 's2' }),
      ],
    ],
    [
      'Never of a container, in another sandbox that its pod gets',
      [agentStarted(0), wanted(0, ownNever), started(1, 'a'), exited(2, 'a', 1), started(3, 'b', { sandboxId: 's2' })],
    ],
    [
      'a pod that has come back',
      [agentStarted(0), wanted(0, never), started(1, 'a'), exited(2, 'a', 1), forgotten(3), started(4, 'b')],
    ],
  ],
};

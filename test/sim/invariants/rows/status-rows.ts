import type { Pod, PodStatus } from '../../../../src/model/pod/pod.js';
import { aPod } from '../../../support/a-pod.js';
import {
  agentKilled,
  agentStarted,
  asked,
  begin,
  exited,
  forgotten,
  heard,
  hooked,
  hookEnded,
  never,
  pass,
  passEnded,
  probed,
  removed,
  running,
  shown,
  started,
  startLost,
  type Rows,
  upToDate,
  wanted,
  wantedByApi,
} from '../story.js';

/** The error of a sync that could not read its pod. */
const UNREAD = { error: 'error determining status: unavailable' };
/** One whose time may be over, as the API server has it. */
const timedPod = (status: PodStatus): Pod => ({
  ...aPod({ source: 'api', spec: { restartPolicy: 'Never', activeDeadlineSeconds: 3 } }),
  status: { startTime: '2026-01-01T00:00:00Z', ...status },
});
const timed = [
  ...[agentStarted(0), wantedByApi(0, timedPod({ phase: 'Running' })), ...upToDate],
  shown(4, { phase: 'Succeeded' }, timedPod({})),
];
const probedOnNode: Pod = { ...probed, spec: { ...probed.spec, hostNetwork: true } };
/** Another agent, which has seen the pod once. */
const nextLife = [agentKilled(5), agentStarted(6, 2), pass(7), passEnded(8)];
const LATE: PodStatus = { phase: 'Failed', reason: 'DeadlineExceeded' };

export const statusRows: Rows = {
  'ends-are-reported': [
    [
      'an end that has not come',
      [begin, upToDate, pass(5), passEnded(6), shown(6, { phase: 'Succeeded' })],
      'runs though its pod shows as Succeeded',
    ],
    [
      'an end that its source has, after a read that failed',
      [
        [...begin, ...upToDate, agentKilled(5), agentStarted(6, 2), pass(7), passEnded(7, 'sync', UNREAD)],
        [shown(7, { phase: 'Succeeded' }), pass(8), passEnded(9)],
        shown(9, { phase: 'Running', containerStatuses: [running('main', 'a')] }),
      ],
    ],
    [
      'an end of a former pod of its UID, of which nothing is left',
      [
        agentStarted(0),
        wanted(0, never),
        started(1, 'a'),
        exited(2, 'a', 1),
        wanted(3),
        forgotten(4),
        removed(5, 'a'),
        wanted(6, never),
        heard(6, 'ADD'),
        shown(7, { phase: 'Pending' }, never),
      ],
    ],
    [
      'an end that is not shown',
      [
        agentStarted(0),
        wanted(0, never),
        pass(1),
        passEnded(2),
        started(2, 'a'),
        exited(3, 'a'),
        shown(5, { phase: 'Running', containerStatuses: [] }, never),
      ],
      'has ended, but shows as Running',
    ],
    [
      'a container that is not shown',
      [begin, upToDate, shown(5, { phase: 'Running', containerStatuses: [] })],
      'runs as a, but shows as undefined',
    ],
    [
      'a container that is still shown',
      [begin, upToDate, shown(5, { phase: 'Running', containerStatuses: [running('main', 'a')] }), exited(6, 'a', 1)],
      'shows as running, but does not run',
    ],
    ['no status at all', [begin], 'has no status'],
    ['as it is', [begin, upToDate, shown(5, { phase: 'Running', containerStatuses: [running('main', 'a')] })]],
    [
      'it has ended and says so',
      [
        agentStarted(0),
        wanted(0, never),
        pass(1),
        started(2, 'a'),
        exited(3, 'a'),
        passEnded(4),
        shown(5, { phase: 'Succeeded', containerStatuses: [] }, never),
      ],
    ],
  ],
  'status-goes-forward': [
    [
      'an end that is taken back',
      [begin, upToDate, shown(4, { phase: 'Failed' }), shown(5, { phase: 'Running' })],
      'went from Failed to Running',
    ],
    [
      'a restart count that falls',
      [
        begin,
        upToDate,
        shown(4, { containerStatuses: [running('main', 'a', { restartCount: 2 })] }),
        shown(5, { containerStatuses: [running('main', 'b', { restartCount: 1 })] }),
      ],
      'went from 2 to 1',
    ],
    [
      'a start time that moves',
      [begin, upToDate, shown(4, {}), shown(5, { startTime: '2026-01-01T00:00:09Z' })],
      'its start time went',
    ],
    [
      'an end in another life',
      [begin, upToDate, shown(4, { phase: 'Failed' }), nextLife, shown(8, { phase: 'Running' })],
      'went from Failed to Running',
    ],
    [
      'an end in another life, after a boot that forgot the start of its container',
      [
        [...begin, started(2, 'a'), ...upToDate, shown(4, { phase: 'Failed' })],
        [startLost(5, 'a'), nextLife, shown(8, { phase: 'Running' })],
      ],
    ],
    [
      'an end in another life, after a read that failed',
      [
        [...begin, ...upToDate, shown(4, { phase: 'Failed' })],
        [agentKilled(5), agentStarted(6, 2), pass(7), passEnded(7, 'sync', UNREAD), shown(7, { phase: 'Running' })],
        [pass(8), passEnded(9), shown(9, { phase: 'Running' })],
      ],
      'went from Failed to Running',
    ],
    [
      'what its source says, after a read that failed',
      [
        [...begin, ...upToDate, shown(4, { phase: 'Failed' })],
        [agentKilled(5), agentStarted(6, 2), pass(7), passEnded(7, 'sync', UNREAD), shown(7, { phase: 'Running' })],
        [pass(8), passEnded(9), shown(9, { phase: 'Failed' })],
      ],
    ],
    [
      'it goes forward',
      [
        begin,
        upToDate,
        shown(4, { phase: 'Pending' }),
        shown(5, { phase: 'Running' }),
        shown(6, { phase: 'Failed' }),
        shown(7, { phase: 'Failed' }),
      ],
    ],
    [
      'a pod that has come back',
      [
        begin,
        upToDate,
        shown(4, { phase: 'Failed' }),
        forgotten(5),
        pass(6),
        passEnded(7),
        shown(7, { phase: 'Pending' }),
      ],
    ],
    [
      'another agent gives it another start time',
      [begin, upToDate, shown(4, {}), nextLife, shown(8, { startTime: '2026-01-01T00:00:09Z' })],
    ],
    [
      'its time is over before the API has its end',
      [timed, wantedByApi(5, timedPod({ phase: 'Running' })), nextLife, shown(8, LATE, timedPod({}))],
    ],
    [
      'its time is over, and the API has its end',
      [timed, wantedByApi(5, timedPod({ phase: 'Succeeded' })), nextLife, shown(8, LATE, timedPod({}))],
      'went from Succeeded to Failed',
    ],
    [
      'its time is over, and the same agent has said how it ended',
      [timed, shown(5, LATE, timedPod({}))],
      'went from Succeeded to Failed',
    ],
    [
      'its time is over, and the next agent has said how it ended',
      [timed, nextLife, shown(8, { phase: 'Succeeded' }, timedPod({})), shown(9, LATE, timedPod({}))],
      'went from Succeeded to Failed',
    ],
    [
      'it fails in another life for no such reason',
      [timed, nextLife, shown(8, { phase: 'Failed' }, timedPod({}))],
      'went from Succeeded to Failed',
    ],
  ],
  'ready-is-proven': [
    [
      'it was not asked',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        shown(2, { containerStatuses: [running('main', 'a', { ready: true })] }, probed),
      ],
      'after 0 successes of its readiness probe in a row (expected 2)',
    ],
    [
      'its hook has failed',
      [
        agentStarted(0),
        wanted(0, hooked),
        started(1, 'a'),
        hookEnded(2, 'a', false),
        shown(3, { containerStatuses: [running('main', 'a', { ready: true })] }, hooked),
      ],
      'its postStart command has never ended well on this instance',
    ],
    [
      'its hook has run again, and ended',
      [
        agentStarted(0),
        wanted(0, hooked),
        started(1, 'a'),
        hookEnded(2, 'a', false),
        hookEnded(3, 'a'),
        shown(4, { containerStatuses: [running('main', 'a', { ready: true })] }, hooked),
      ],
    ],
    [
      'not often enough in a row',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        asked(3, 'a', 'readiness', false),
        asked(4, 'a', 'readiness'),
        shown(5, { containerStatuses: [running('main', 'a', { ready: true })] }, probed),
      ],
      'after 1 successes',
    ],
    [
      'another instance was asked',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        asked(3, 'a', 'readiness'),
        exited(4, 'a'),
        started(5, 'b'),
        shown(6, { containerStatuses: [running('main', 'b', { ready: true })] }, probed),
      ],
      'after 0 successes',
    ],
    [
      'another pod was asked, at another address',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'b', 'readiness', true, 'a'),
        asked(3, 'b', 'readiness', true, 'a'),
        shown(4, { containerStatuses: [running('main', 'a', { ready: true })] }, probed),
      ],
      'after 0 successes',
    ],
    [
      'another pod on the network of the node has its port, and answered',
      [
        agentStarted(0),
        wanted(0, probedOnNode),
        started(1, 'a'),
        asked(2, 'b', 'readiness', true, 'a'),
        asked(3, 'b', 'readiness', true, 'a'),
        shown(4, { containerStatuses: [running('main', 'a', { ready: true })] }, probedOnNode),
      ],
    ],
    [
      'its successor was asked, in a sync that still goes on',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        pass(2),
        exited(3, 'a'),
        started(4, 'b'),
        asked(5, 'b', 'readiness'),
        asked(6, 'b', 'readiness'),
        shown(7, { containerStatuses: [running('main', 'a', { ready: true })] }, probed),
      ],
    ],
    [
      'it has ended long ago',
      [
        begin,
        started(1, 'a'),
        exited(2, 'a'),
        pass(3),
        passEnded(4),
        pass(5),
        passEnded(6),
        shown(6, { containerStatuses: [running('main', 'a', { ready: true })] }),
      ],
      'had ended before',
    ],
    [
      'it had ended before another life has read it',
      [
        [...begin, started(1, 'a'), exited(2, 'a'), agentKilled(3), agentStarted(4, 2), pass(5), passEnded(6)],
        shown(6, { containerStatuses: [running('main', 'a', { ready: true })] }),
      ],
      'had ended before',
    ],
    [
      'another life could not read that it has ended',
      [
        [...begin, started(1, 'a'), exited(2, 'a'), agentKilled(3), agentStarted(4, 2)],
        [pass(5), passEnded(6, 'sync', UNREAD)],
        shown(6, { containerStatuses: [running('main', 'a', { ready: true })] }),
      ],
    ],
    [
      'a pod that is readier than its containers',
      [
        begin,
        started(1, 'a'),
        shown(2, { conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [running('main', 'a')] }),
      ],
      'the pod shows as ready, but main does not',
    ],
    [
      'asked often enough',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        asked(3, 'a', 'readiness'),
        shown(5, { containerStatuses: [running('main', 'a', { ready: true })] }, probed),
      ],
    ],
    [
      'without a probe',
      [begin, started(1, 'a'), shown(2, { containerStatuses: [running('main', 'a', { ready: true })] })],
    ],
  ],
};

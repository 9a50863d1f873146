import {
  END,
  agentKilled,
  agentStarted,
  asked,
  begin,
  created,
  exited,
  forgotten,
  journal,
  never,
  pass,
  passEnded,
  probed,
  removed,
  running,
  shown,
  started,
  upToDate,
  wanted,
  type Rows,
} from '../story.js';

export const truthRows: Rows = {
  'ends-are-reported': [
    [
      'an end that has not come',
      [begin, upToDate, pass(5), passEnded(6), shown(6, { phase: 'Succeeded' })],
      'runs though its pod shows as Succeeded',
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
      [begin, shown(1, { phase: 'Failed' }), shown(2, { phase: 'Running' })],
      'went from Failed to Running',
    ],
    [
      'a restart count that falls',
      [
        begin,
        shown(1, { containerStatuses: [running('main', 'a', { restartCount: 2 })] }),
        shown(2, { containerStatuses: [running('main', 'b', { restartCount: 1 })] }),
      ],
      'went from 2 to 1',
    ],
    [
      'a start time that moves',
      [begin, shown(1, {}), shown(2, { startTime: '2026-01-01T00:00:09Z' })],
      'its start time went',
    ],
    [
      'an end in another life',
      [begin, shown(1, { phase: 'Failed' }), agentKilled(2), agentStarted(3, 2), shown(4, { phase: 'Running' })],
      'went from Failed to Running',
    ],
    [
      'it goes forward',
      [
        begin,
        shown(1, { phase: 'Pending' }),
        shown(2, { phase: 'Running' }),
        shown(3, { phase: 'Failed' }),
        shown(4, { phase: 'Failed' }),
      ],
    ],
    ['a pod that has come back', [begin, shown(1, { phase: 'Failed' }), forgotten(2), shown(3, { phase: 'Pending' })]],
    [
      'another agent gives it another start time',
      [begin, shown(1, {}), agentKilled(2), agentStarted(3, 2), shown(4, { startTime: '2026-01-01T00:00:09Z' })],
    ],
  ],
  'ready-is-proven': [
    [
      'nobody has asked',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        shown(2, { containerStatuses: [running('main', 'a', { ready: true })] }, probed),
      ],
      'after 0 successes of its readiness probe in a row (expected 2)',
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
  'probes-go-on': [
    [
      'nobody asks any more',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        shown(3, { containerStatuses: [running('main', 'a', { started: true })] }, probed),
      ],
      'its readiness probe has not asked',
    ],
    [
      'somebody still asks',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        shown(3, { containerStatuses: [running('main', 'a', { started: true })] }, probed),
        asked(END - 4, 'a', 'readiness'),
      ],
    ],
    [
      'it does not run any more',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        shown(3, { containerStatuses: [running('main', 'a', { started: true })] }, probed),
        exited(4, 'a'),
      ],
    ],
  ],
  'journal-is-true': [
    [
      'a death that has not been',
      [begin, started(1, 'a'), journal(2, { kind: 'runtime-changed', change: 'ContainerDied', containerId: 'a' })],
      'but it has not ended',
    ],
    [
      'another exit code',
      [
        begin,
        started(1, 'a'),
        exited(2, 'a', 1),
        journal(3, { kind: 'runtime-changed', change: 'ContainerDied', containerId: 'a', exitCode: 0 }),
      ],
      'exit code 0 instead of 1',
    ],
    [
      'a start that has not been',
      [begin, created(1, 'a'), journal(2, { kind: 'runtime-changed', change: 'ContainerStarted', containerId: 'a' })],
      'never been started',
    ],
    [
      'a removal that has not been',
      [begin, started(1, 'a'), journal(2, { kind: 'runtime-changed', change: 'ContainerRemoved', containerId: 'a' })],
      'still there',
    ],
    [
      'a container that has never been',
      [begin, journal(2, { kind: 'runtime-changed', change: 'ContainerDied', containerId: 'z' })],
      'never been one of that id',
    ],
    [
      'what has been',
      [
        begin,
        started(1, 'a'),
        journal(1, { kind: 'runtime-changed', change: 'ContainerStarted', containerId: 'a' }),
        exited(2, 'a', 1),
        journal(3, { kind: 'runtime-changed', change: 'ContainerDied', containerId: 'a', exitCode: 1 }),
        removed(4, 'a'),
        journal(5, { kind: 'runtime-changed', change: 'ContainerRemoved', containerId: 'a' }),
      ],
    ],
  ],
  causes: [
    [
      'an effect without a cause',
      [begin, journal(1, { kind: 'call', call: 'StopContainer', durationMs: 1 })],
      'names no cause',
    ],
    [
      'a cause that there is not',
      [begin, journal(1, { kind: 'phase', to: 'Running' }, { causes: ['1-nothing'] })],
      'no older entry of this run',
    ],
    [
      'itself',
      [begin, journal(1, { kind: 'phase', to: 'Running' }, { id: 'x', causes: ['x'] })],
      'no older entry of this run',
    ],
    [
      'a cause about another pod',
      [
        begin,
        journal(1, { kind: 'work-due' }, { id: 'x', pod: { uid: 'uid-2', name: 'b', namespace: 'default' } }),
        journal(2, { kind: 'phase', to: 'Running' }, { causes: ['x'] }),
      ],
      'about pod uid-2',
    ],
    [
      'a cause of a former life',
      [
        begin,
        journal(1, { kind: 'work-due' }, { id: 'x' }),
        agentKilled(2),
        agentStarted(3, 2),
        journal(4, { kind: 'phase', to: 'Running' }, { causes: ['x'] }),
      ],
      'no older entry of this run',
    ],
    [
      'the same id twice',
      [begin, journal(1, { kind: 'work-due' }, { id: 'x' }), journal(2, { kind: 'work-due' }, { id: 'x' })],
      'was used before',
    ],
    [
      'an older entry',
      [
        begin,
        journal(1, { kind: 'work-due' }, { id: 'x' }),
        journal(2, { kind: 'phase', to: 'Running' }, { causes: ['x'] }),
      ],
    ],
  ],
};

import {
  END,
  agentKilled,
  agentStarted,
  asked,
  begin,
  created,
  exited,
  journal,
  probed,
  removed,
  running,
  shown,
  started,
  wanted,
  type Rows,
} from '../story.js';

export const truthRows: Rows = {
  'probes-go-on': [
    [
      'no reader asks any more',
      [
        agentStarted(0),
        wanted(0, probed),
        started(1, 'a'),
        asked(2, 'a', 'readiness'),
        shown(3, { containerStatuses: [running('main', 'a', { started: true })] }, probed),
      ],
      'its readiness probe was not sent',
    ],
    [
      'a reader still asks',
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
      'still exists',
    ],
    [
      'a container that has never been',
      [begin, journal(2, { kind: 'runtime-changed', change: 'ContainerDied', containerId: 'z' })],
      'no item has had that id',
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
      'not an older entry of this run',
    ],
    [
      'itself',
      [begin, journal(1, { kind: 'phase', to: 'Running' }, { id: 'x', causes: ['x'] })],
      'not an older entry of this run',
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
      'not an older entry of this run',
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

import { expect, it } from 'vitest';
import type { ContainerStatus, PodStatus } from '../../../src/model/pod/pod.js';
import { newTerminations } from '../../../src/model/pod-status/new-terminations.js';

const status = (name: string, state: ContainerStatus['state'], lastState: ContainerStatus['lastState'] = {}) => ({
  ...{ name, state, lastState, ready: false, restartCount: 0, image: 'host', imageID: 'host' },
});
const ended = (id: string, exitCode = 1) => ({
  terminated: { containerID: `fake://${id}`, exitCode, reason: 'Error' },
});
const running: PodStatus = { containerStatuses: [status('main', { running: {} })] };

it.each<{ case: string; previous: PodStatus | undefined; now: PodStatus; expected: object[] }>([
  {
    case: 'an instance that has ended',
    previous: running,
    now: { containerStatuses: [status('main', ended('a', 3))] },
    expected: [{ kind: 'regular', exitCode: 3, reason: 'Error' }],
  },
  {
    case: 'one that has been replaced already',
    previous: running,
    now: { containerStatuses: [status('main', { running: {} }, ended('a'))] },
    expected: [{ kind: 'regular', exitCode: 1, reason: 'Error' }],
  },
  {
    case: 'both that ended since, the older one first',
    previous: running,
    now: { containerStatuses: [status('main', ended('b', 2), ended('a', 1))] },
    expected: [{ exitCode: 1 }, { exitCode: 2 }],
  },
  {
    case: 'none twice, wherever it stands',
    previous: { containerStatuses: [status('main', ended('a'))] },
    now: { containerStatuses: [status('main', { waiting: {} }, ended('a'))] },
    expected: [],
  },
  {
    case: 'the kinds apart',
    previous: {},
    now: {
      initContainerStatuses: [status('setup', ended('i', 0))],
      ephemeralContainerStatuses: [status('debug', ended('e', 0))],
    },
    expected: [{ kind: 'init' }, { kind: 'ephemeral' }],
  },
  {
    case: 'nothing of which no instance is known',
    previous: running,
    now: { containerStatuses: [status('main', { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } })] },
    expected: [],
  },
  {
    case: 'nothing without a status before',
    previous: undefined,
    now: { containerStatuses: [status('main', ended('a'))] },
    expected: [],
  },
])('reports $case', ({ previous, now, expected }) => {
  const found = newTerminations(previous, now);
  expect(found).toMatchObject(expected);
  expect(found.length).toBe(expected.length);
});

import { describe, expect, it } from 'vitest';
import { CONFIG_SOURCE_ANNOTATION, type ContainerStatus } from '../../../src/model/pod/pod.js';
import { terminatedPodStatus } from '../../../src/model/pod-status/terminated-pod-status.js';
import { aContainer, aPod } from '../pods.js';

const status = (
  name: string,
  state: ContainerStatus['state'],
  fields: Partial<ContainerStatus> = {},
): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...fields,
});
const waiting = { waiting: {} };
const running = { running: {} };
const done = { terminated: { exitCode: 0 } };
/** `lost` for what was given up for lost, else the state's kind. */
const kinds = (statuses: readonly ContainerStatus[] = []) =>
  statuses.map(({ state }) =>
    state?.terminated?.reason === 'ContainerStatusUnknown' ? 'lost' : Object.keys(state ?? {})[0],
  );

describe('containers', () => {
  const withInit = aPod({ initContainers: [aContainer('i'), aContainer('j')] });

  it.each([
    [
      'no init containers: every one that has not ended is lost',
      aPod(),
      [],
      [running, waiting, done],
      [],
      ['lost', 'lost', 'terminated'],
    ],
    [
      'not initialized: regular ones never ran',
      withInit,
      [running, waiting],
      [waiting],
      ['lost', 'waiting'],
      ['waiting'],
    ],
    [
      'nothing has run: the first init container is lost',
      withInit,
      [waiting, waiting],
      [waiting],
      ['lost', 'waiting'],
      ['waiting'],
    ],
    [
      'initialized by the last init container',
      withInit,
      [done, done],
      [waiting],
      ['terminated', 'terminated'],
      ['lost'],
    ],
    [
      'initialized as a regular one has run',
      withInit,
      [waiting, running],
      [running, waiting],
      ['lost', 'lost'],
      ['lost', 'lost'],
    ],
  ])('%s', (_, pod, init, regular, expectedInit, expectedRegular) => {
    const result = terminatedPodStatus(pod, {
      initContainerStatuses: init.map((state, index) => status(index === 0 ? 'i' : 'j', state)),
      containerStatuses: regular.map((state, index) => status(`c${index}`, state)),
    });
    expect(kinds(result.initContainerStatuses)).toEqual(expectedInit);
    expect(kinds(result.containerStatuses)).toEqual(expectedRegular);
  });

  it('that are lost are neither ready nor started any more, and others stay as they were', () => {
    const ready = { ready: true, started: true };
    const { containerStatuses } = terminatedPodStatus(aPod(), {
      containerStatuses: [status('a', running, ready), status('b', done, ready)],
    });
    expect(containerStatuses?.map((container) => [container.ready, container.started])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it.each([
    ['well: initialized', done, 'lost'],
    ['badly: not initialized', { terminated: { exitCode: 1 } }, 'waiting'],
  ])('whose last init container waits again after it has ended %s', (_, lastState, expected) => {
    const result = terminatedPodStatus(withInit, {
      initContainerStatuses: [status('i', done), status('j', waiting, { lastState })],
      containerStatuses: [status('c', waiting)],
    });
    expect(kinds(result.initContainerStatuses)).toEqual(['terminated', 'lost']);
    expect(kinds(result.containerStatuses)).toEqual([expected]);
  });
});

describe('phase', () => {
  const fromFile = aPod({}, { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } });

  it.each([
    ['Running', aPod(), 'Failed'],
    ['Pending', aPod(), 'Failed'],
    ['Succeeded', aPod(), 'Succeeded'],
    ['Running', fromFile, 'Running'],
  ])('%s', (phase, pod, expected) => {
    expect(terminatedPodStatus(pod, { phase }).phase).toBe(expected);
  });
});

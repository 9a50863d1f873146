import { describe, expect, it } from 'vitest';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { KillReason } from '../../../src/model/pod-actions/pod-actions.js';
import { isFailure, stopOrder } from '../../../src/model/pod-actions/stopping.js';
import { aContainer, aPod, aStatus, exited } from '../pods.js';

const sidecar = (name: string) => aContainer(name, { restartPolicy: 'Always' });
const pod = aPod({
  initContainers: [aContainer('init'), sidecar('s'), sidecar('t')],
  containers: [aContainer('a'), aContainer('b')],
});

describe('the order in which the containers of a pod stop', () => {
  it.each<{ case: string; instances: readonly RuntimeContainerStatus[]; first: string[]; turns: string[][] }>([
    { case: 'a pod without instances has nothing to stop', instances: [], first: [], turns: [] },
    {
      case: 'sidecars stop after all others, the last one first',
      instances: [aStatus('s'), aStatus('a'), aStatus('t'), aStatus('b'), aStatus('init')],
      first: ['a-0', 'b-0', 'init-0'],
      turns: [['t-0'], ['s-0']],
    },
    {
      case: 'a sidecar without an instance has no turn',
      instances: [aStatus('a'), aStatus('s')],
      first: ['a-0'],
      turns: [['s-0']],
    },
    {
      case: 'all instances of a sidecar stop in one turn',
      instances: [aStatus('s', { id: 's-1' }), aStatus('s')],
      first: [],
      turns: [['s-1', 's-0']],
    },
    {
      case: 'an instance of an unknown state stops too, a created or exited one does not',
      instances: [
        aStatus('a', { state: 'unknown' }),
        aStatus('b', { state: 'created' }),
        exited('b', 0),
        exited('s', 1),
        aStatus('t', { state: 'unknown' }),
      ],
      first: ['a-0'],
      turns: [['t-0']],
    },
    {
      case: 'an instance without a specification stops with the others',
      instances: [aStatus('x')],
      first: ['x-0'],
      turns: [],
    },
  ])('$case', ({ instances, first, turns }) => {
    const order = stopOrder(pod, instances);
    expect(order.first.map(({ instance }) => instance.id)).toEqual(first);
    expect(order.turns.map((turn) => turn.map(({ instance }) => instance.id))).toEqual(turns);
  });

  it('an instance comes with the specification of its container, if there is one', () => {
    const { first } = stopOrder(pod, [aStatus('a'), aStatus('x')]);
    expect(first.map(({ container }) => container)).toEqual([aContainer('a'), undefined]);
    expect(stopOrder(pod, [aStatus('t')]).turns[0]?.[0]?.container).toEqual(sidecar('t'));
  });
});

it.each<[reason: KillReason | undefined, failure: boolean]>([
  ['LivenessProbe', true],
  ['StartupProbe', true],
  ['DefinitionChanged', false],
  ['Unknown', false],
  ['Superseded', false],
  [undefined, false],
])('a container that is killed for %s has failed by itself: %s', (reason, failure) => {
  expect(isFailure(reason)).toBe(failure);
});

import { describe, expect, it } from 'vitest';
import type { RuntimeContainerState } from '../../../src/model/pleg/runtime-pod.js';
import {
  hasPostStart,
  hooksOver,
  hooksToRepeat,
  idsNotExited,
  sortHookMarks,
} from '../../../src/model/pod-actions/due-hooks.js';
import type { ContainerToKill, ContainerToReset } from '../../../src/model/pod-actions/pod-actions.js';
import { aContainer, aPod } from '../pods.js';

const lifecycle = { postStart: { exec: { command: ['warm-up'] } } };
/** `c1 running` is an instance of container c. */
const instances = (...texts: readonly string[]) =>
  texts.map((text) => {
    const [id = '', state = ''] = text.split(' ');
    return { id, name: id.slice(0, 1), state: state as RuntimeContainerState };
  });

it.each([
  { kind: 'a regular container', spec: { containers: [aContainer('a'), aContainer('b', { lifecycle })] }, has: true },
  { kind: 'an init container', spec: { initContainers: [aContainer('i', { lifecycle })] }, has: true },
  { kind: 'no container', spec: { containers: [aContainer('a')] }, has: false },
  {
    kind: 'no container, but a preStop hook of one',
    spec: { containers: [aContainer('a', { lifecycle: { preStop: lifecycle.postStart } })] },
    has: false,
  },
])('a pod has postStart hooks if it has one of $kind: $has', ({ spec, has }) => {
  expect(hasPostStart(aPod(spec))).toBe(has);
});

it('a hook may be due of a container that has not exited', () => {
  const all = instances('a1 running', 'b1 created', 'c1 unknown', 'd1 exited');
  expect(idsNotExited(all)).toEqual(['a1', 'b1', 'c1']);
});

it.each([
  { case: 'a hook is over once its container has exited', due: ['a1', 'b1'], over: ['b1'] },
  { case: 'a hook is over once its container is gone', due: ['a1', 'x1'], over: ['x1'] },
  { case: 'a hook of a created or an unknown container is not over', due: ['c1', 'd1'], over: [] },
  { case: 'no hook is over while none is due', due: [], over: [] },
])('$case', ({ due, over }) => {
  const all = instances('a1 running', 'b1 exited', 'c1 created', 'd1 unknown');
  expect(hooksOver(due, all)).toEqual(over);
});

it.each([
  { case: 'a mark of a container that runs is a due hook', marks: ['a1'], due: ['a1'], stale: [] },
  { case: 'a mark of a container that has exited is stale', marks: ['b1', 'a1'], due: ['a1'], stale: ['b1'] },
  { case: 'a mark of no container is stale', marks: ['x1'], due: [], stale: ['x1'] },
  { case: 'a container without a mark has no due hook', marks: [], due: [], stale: [] },
  { case: 'a mark has the name of the directory of its id', marks: ['c%2F1', 'c/1'], due: ['c/1'], stale: ['c/1'] },
])('$case', ({ marks, due, stale }) => {
  const all = instances('a1 running', 'b1 exited', 'c/1 unknown');
  expect(sortHookMarks(marks, all)).toEqual({ due, stale });
});

describe('the hooks that a sync runs again', () => {
  const pod = aPod({ containers: [aContainer('a'), aContainer('b')] });
  const none = { killPod: false, containersToKill: [], containersToReset: [] };
  const one = { id: 'a1', name: 'a', container: aContainer('a') };
  const kill: ContainerToKill = { ...one, message: '', reason: 'DefinitionChanged' };
  const reset: ContainerToReset = { ...one, kill: true };

  it.each([
    { case: 'for each running container whose hook is due', actions: none, due: ['a1', 'b1'], again: ['a1', 'b1'] },
    { case: 'for no other container', actions: none, due: ['b1'], again: ['b1'] },
    {
      case: 'not for a container that does not run, or is in no specification',
      actions: none,
      due: ['a2', 'x1'],
      again: [],
    },
    {
      case: 'not for a container that is killed',
      actions: { ...none, containersToKill: [kill] },
      due: ['a1', 'b1'],
      again: ['b1'],
    },
    {
      case: 'not for a container that is removed',
      actions: { ...none, containersToReset: [reset] },
      due: ['a1', 'b1'],
      again: ['b1'],
    },
    { case: 'not in a pod that is killed', actions: { ...none, killPod: true }, due: ['a1', 'b1'], again: [] },
  ])('a postStart hook runs again $case', ({ actions, due, again }) => {
    const all = instances('a1 running', 'b1 running', 'a2 exited', 'x1 running');
    expect(hooksToRepeat(pod, all, actions, (id) => due.includes(id)).map(({ id }) => id)).toEqual(again);
  });

  it('a postStart hook runs again by the first specification of its name', () => {
    const twice = aPod({ initContainers: [aContainer('a', { image: 'first' })], containers: [aContainer('a')] });
    const [hook] = hooksToRepeat(twice, instances('a1 running'), none, () => true);
    expect(hook?.container.image).toBe('first');
  });
});

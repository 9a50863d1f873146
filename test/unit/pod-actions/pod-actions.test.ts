import { expect, it } from 'vitest';
import { hasWork, type PodActions, startSteps } from '../../../src/model/pod-actions/pod-actions.js';
import { aContainer, aPod } from '../pods.js';

const NOTHING: PodActions = {
  ...{ killPod: false, createSandbox: false, sandboxId: 's1', attempt: 0 },
  ...{ initContainersToStart: [], containersToStart: [], ephemeralContainersToStart: [] },
  ...{
    containersToKill: [],
    containersToReset: [],
    containersToUpdate: [],
    reasons: [{ action: 'keep', because: 'it runs' }],
  },
};
const one = { id: 'a1', name: 'a', container: aContainer('a') };

it.each<{ case: string; actions: Partial<PodActions>; has: boolean }>([
  { case: 'keeps everything', actions: {}, has: false },
  { case: 'kills the pod', actions: { killPod: true }, has: true },
  { case: 'creates a sandbox', actions: { createSandbox: true }, has: true },
  { case: 'starts an init container', actions: { initContainersToStart: ['a'] }, has: true },
  { case: 'starts a container', actions: { containersToStart: ['a'] }, has: true },
  { case: 'starts an ephemeral container', actions: { ephemeralContainersToStart: ['a'] }, has: true },
  { case: 'kills a container', actions: { containersToKill: [{ ...one, message: '', reason: 'Unknown' }] }, has: true },
  { case: 'removes a container', actions: { containersToReset: [{ ...one, kill: false }] }, has: true },
])('a sync that $case changes the pod: $has', ({ actions, has }) => {
  expect(hasWork({ ...NOTHING, ...actions })).toBe(has);
});

it('containers start in the order ephemeral, init, regular, and in the order of the spec within each kind', () => {
  const pod = aPod({
    initContainers: ['i', 'j'].map((name) => aContainer(name)),
    containers: ['a', 'b', 'c'].map((name) => aContainer(name)),
    ephemeralContainers: [{ name: 'e', image: 'e:1' }],
  });
  const steps = startSteps(pod, {
    ...{ containersToStart: ['c', 'a', 'gone'], initContainersToStart: ['j'], ephemeralContainersToStart: ['e'] },
  });
  expect(steps.map(({ kind, container }) => `${kind} ${container.name}`)).toEqual([
    'ephemeral e',
    'init j',
    'regular a',
    'regular c',
  ]);
  expect(startSteps(pod, NOTHING)).toEqual([]);
});

it('a container starts only as the kind in whose list its name is', () => {
  const pod = aPod({ initContainers: [aContainer('a')], containers: [aContainer('a')] });
  const steps = startSteps(pod, { ...NOTHING, containersToStart: ['a'] });
  expect(steps.map(({ kind }) => kind)).toEqual(['regular']);
});

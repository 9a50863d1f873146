import { describe, expect, it } from 'vitest';
import { resizeEvent } from '../../../src/model/pod-status/conditions.js';
import type { Pod, PodStatus } from '../../../src/model/pod/pod.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';
import { generate, now } from './generate.js';

const MESSAGE = 'In-place resize of pods is not supported on this node.';
const at = (memory: string, generation: number): Pod =>
  aPod(
    { restartPolicy: 'Never', containers: [aContainer('web', { resources: { requests: { memory } } })] },
    { generation },
  );
/** The pod on which the agent acts has the newest version's metadata and the amounts of the first. */
const acted = (generation: number): Pod => at('35Mi', generation);

const pendingOf = ({ conditions = [] }: PodStatus): unknown =>
  conditions.find(({ type }) => type === 'PodResizePending');
const first = generate({ pod: acted(2), asked: at('40Mi', 2) });

describe('the status of a pod whose API object was resized', () => {
  it('a resize is infeasible, and the amounts of the container stay', () => {
    expect(pendingOf(first)).toEqual({
      type: 'PodResizePending',
      status: 'True',
      reason: 'Infeasible',
      message: MESSAGE,
      lastProbeTime: '2026-01-01T00:00:10Z',
      lastTransitionTime: '2026-01-01T00:00:10Z',
      observedGeneration: 2,
    });
    expect(first.containerStatuses?.[0]).toMatchObject({
      resources: { requests: { memory: '35Mi' } },
      allocatedResources: { memory: '35Mi' },
    });
    expect(first).toMatchObject({ allocatedResources: { memory: '35Mi' }, observedGeneration: 2 });
  });

  it('the times of the condition change with the version of the pod and with the reason alone', () => {
    const later = { previous: first, now: now + 60_000 };
    expect(pendingOf(generate({ ...later, pod: acted(2), asked: at('40Mi', 2) }))).toEqual(pendingOf(first));
    expect(pendingOf(generate({ ...later, pod: acted(3), asked: at('50Mi', 3) }))).toMatchObject({
      lastProbeTime: '2026-01-01T00:01:10Z',
      lastTransitionTime: '2026-01-01T00:00:10Z',
      observedGeneration: 3,
    });
  });

  it.each<[row: string, fields: Parameters<typeof generate>[0]]>([
    ['a pod without a resize', { pod: acted(2) }],
    ['a pod whose resize was undone', { pod: acted(3), asked: acted(3), previous: first }],
    [
      'a pod that has ended',
      { pod: acted(2), asked: at('40Mi', 2), previous: first, runtime: aRuntimePod([exited('web', 0)]) },
    ],
  ])('%s has no such condition', (_, fields) => {
    expect(pendingOf(generate({ runtime: aRuntimePod([aStatus('web')]), ...fields }))).toBeUndefined();
  });

  it('the event names the amounts, once for each version of the pod', () => {
    expect(resizeEvent(at('40Mi', 2), generate({ pod: acted(1) }), first)).toEqual({
      reason: 'ResizeInfeasible',
      message: `Pod resize Infeasible: {"containers":[{"name":"web","resources":{"requests":{"memory":"40Mi"}}}],"generation":2,"error":"${MESSAGE}"}`,
    });
    expect(resizeEvent(at('40Mi', 2), first, first)).toBeUndefined();
    const next = generate({ pod: acted(3), asked: at('50Mi', 3), previous: first });
    expect(resizeEvent(at('50Mi', 3), first, next)).toMatchObject({ reason: 'ResizeInfeasible' });
    expect(resizeEvent(acted(4), next, generate({ pod: acted(4), previous: next }))).toBeUndefined();
  });
});

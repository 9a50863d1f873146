import { describe, expect, it } from 'vitest';
import { NOT_RESIZED } from '../../../src/model/resize/actuated.js';
import type { PendingResize } from '../../../src/model/resize/pod-resizes.js';
import { resizeEvents, type ShownResize } from '../../../src/model/resize/resize-conditions.js';
import type { Pod, PodStatus } from '../../../src/model/pod/pod.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';
import { generate, now } from '../pod-status/generate.js';

const MESSAGE = "Node didn't have enough resource: memory, requested: 41943040, used: 0, capacity: 1";
const at = (memory: string, generation: number): Pod =>
  aPod(
    { restartPolicy: 'Never', containers: [aContainer('web', { resources: { requests: { memory } } })] },
    { generation },
  );
const pod = at('35Mi', 2);
const waiting = (fields: Partial<PendingResize> = {}): PendingResize => ({
  ...{ reason: 'Deferred', message: MESSAGE, generation: 2, triedAt: now },
  ...fields,
});
const shown = (resize: ShownResize, previous?: PodStatus, later = 0): PodStatus =>
  generate({ pod, resize, now: now + later, ...(previous && { previous }) });
const condition = (type: string, { conditions = [] }: PodStatus): unknown =>
  conditions.find((found) => found.type === type);
const pending = (status: PodStatus) => condition('PodResizePending', status);
const inProgress = (status: PodStatus) => condition('PodResizeInProgress', status);

describe('the status of a pod that is resized', () => {
  it('says why a resize waits', () => {
    expect(pending(shown({ pending: waiting() }))).toEqual({
      type: 'PodResizePending',
      status: 'True',
      reason: 'Deferred',
      message: MESSAGE,
      lastProbeTime: '2026-01-01T00:00:10Z',
      lastTransitionTime: '2026-01-01T00:00:10Z',
      observedGeneration: 2,
    });
  });

  it('has the time of the last try, and that of the last reason', () => {
    const first = shown({ pending: waiting() });
    const again = shown({ pending: waiting({ triedAt: now + 180_000, message: 'another' }) }, first);
    expect(pending(again)).toMatchObject({
      message: 'another',
      lastProbeTime: '2026-01-01T00:03:10Z',
      lastTransitionTime: '2026-01-01T00:00:10Z',
    });
    const refused = shown({ pending: waiting({ reason: 'Infeasible', triedAt: now + 240_000 }) }, again);
    expect(pending(refused)).toMatchObject({
      reason: 'Infeasible',
      lastTransitionTime: '2026-01-01T00:04:10Z',
    });
  });

  it('says that a resize is in progress, since when, and of which version of the pod', () => {
    const first = shown({ progress: { generation: 2 } });
    expect(inProgress(first)).toEqual({
      type: 'PodResizeInProgress',
      status: 'True',
      lastProbeTime: '2026-01-01T00:00:10Z',
      lastTransitionTime: '2026-01-01T00:00:10Z',
      observedGeneration: 2,
    });
    expect(inProgress(shown({ progress: { generation: 2 } }, first, 60_000))).toEqual(inProgress(first));
    expect(inProgress(shown({ progress: {} }, first, 60_000))).toEqual(inProgress(first));
  });

  it('keeps an error until the resize is done or another one begins, also for an agent that does not know it', () => {
    const first = shown({ progress: { generation: 2 } });
    const failed = shown({ progress: { generation: 2, error: 'no' } }, first, 1_000);
    expect(inProgress(failed)).toMatchObject({
      reason: 'Error',
      message: 'no',
      lastTransitionTime: '2026-01-01T00:00:11Z',
      observedGeneration: 2,
    });
    expect(inProgress(shown({ progress: {} }, failed, 60_000))).toEqual(inProgress(failed));
    expect(inProgress(shown({ progress: { generation: 3 } }, failed))).not.toHaveProperty('reason');
    expect(inProgress(shown({}, failed))).toBeUndefined();
  });

  it('of an ended pod has no such condition', () => {
    const resize = { pending: waiting(), progress: { generation: 2 } };
    const status = generate({ pod, resize, runtime: aRuntimePod([exited('web', 0)]) });
    expect([pending(status), inProgress(status)]).toEqual([undefined, undefined]);
  });

  it('shows what a running instance has, and what the pod was given', () => {
    const given = { containerId: 'web-0', requests: { memory: '30Mi' } };
    const status = generate({
      pod,
      runtime: aRuntimePod([aStatus('web')]),
      actuated: { ...NOT_RESIZED, container: () => given },
    });
    expect(status.containerStatuses?.[0]).toMatchObject({
      resources: { requests: { memory: '30Mi' } },
      allocatedResources: { memory: '35Mi' },
    });
  });
});

describe('the events of a resize', () => {
  const asked = at('40Mi', 2);
  const events = (before: ShownResize, after: ShownResize) =>
    resizeEvents({ asked, has: pod }, shown(before), shown(after)).map(({ type, reason }) => `${type} ${reason}`);
  const inWork = (error?: string): ShownResize => ({ progress: { generation: 2, ...(error && { error }) } });

  it.each<[row: string, before: ShownResize, after: ShownResize, events: readonly string[]]>([
    ['a wait', {}, { pending: waiting() }, ['Warning ResizeDeferred']],
    ['a refusal', {}, { pending: waiting({ reason: 'Infeasible' }) }, ['Warning ResizeInfeasible']],
    ['the same wait', { pending: waiting() }, { pending: waiting({ triedAt: now + 1_000 }) }, []],
    ['another message', { pending: waiting() }, { pending: waiting({ message: 'another' }) }, []],
    ['another version', { pending: waiting() }, { pending: waiting({ generation: 3 }) }, ['Warning ResizeDeferred']],
    ['a failure', inWork(), inWork('no'), ['Warning ResizeError']],
    ['the same failure', inWork('no'), inWork('no'), []],
    ['another failure', inWork('no'), inWork('never'), ['Warning ResizeError']],
    ['the end', inWork('no'), {}, ['Normal ResizeCompleted']],
    ['the beginning, which the loop records', {}, inWork(), []],
  ])('of %s', (_, before, after, expected) => {
    expect(events(before, after)).toEqual(expected);
  });

  it('name the amounts, those that were asked for while these wait, and those that the pod has else', () => {
    const [waits] = resizeEvents({ asked, has: pod }, shown({}), shown({ pending: waiting() }));
    expect(waits?.message).toBe(
      `Pod resize Deferred: {"containers":[{"name":"web","resources":{"requests":{"memory":"40Mi"}}}],"generation":2,"error":${JSON.stringify(MESSAGE)}}`,
    );
    const [done] = resizeEvents({ asked, has: pod }, shown(inWork()), shown({}));
    expect(done?.message).toBe(
      'Pod resize completed: {"containers":[{"name":"web","resources":{"requests":{"memory":"35Mi"}}}],"generation":2}',
    );
  });
});

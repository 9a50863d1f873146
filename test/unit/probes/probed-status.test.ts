import { describe, expect, it } from 'vitest';
import { generatePodStatus } from '../../../src/model/pod-status/generate-pod-status.js';
import { hasStarted, isReady, type ProbedContainer, withProbed } from '../../../src/model/probes/probed-status.js';
import type { ProbeResult } from '../../../src/model/probes/probe-worker.js';
import { aPod } from '../../support/a-pod.js';
import { aProbedPod, aProbedStatus } from '../../support/a-probe.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';

const probed = (given: Partial<ProbedContainer>): ProbedContainer => ({
  ...{ pod: aPod(), status: aProbedStatus().containerStatuses![0]!, isProbed: true },
  ...{ result: undefined, agentStartedAt: 0 },
  ...given,
});
const was = (started: boolean | undefined) => aProbedStatus({ started }).containerStatuses![0]!;

describe('a running container', () => {
  it.each<[string, ProbeResult | undefined, boolean, boolean | undefined, boolean]>([
    ['with a success', 'success', true, false, true],
    ['with a failure', 'failure', true, true, false],
    ['without a probe so far', 'unknown', true, false, false],
    ['of which nothing is known, but which had started', undefined, true, true, true],
    ['of which nothing is known', undefined, true, undefined, false],
    ['of which nothing is known, and which had not started', undefined, true, false, false],
    ['without a startup probe', undefined, false, undefined, true],
  ])('%s has started: %s', (_, result, isProbed, started, expected) => {
    expect(hasStarted(probed({ result, isProbed, status: was(started) }))).toBe(expected);
  });

  const saidByApi = (status: string, containerID = 'fake://c1') => ({
    ...aPod(),
    status: { ...aProbedStatus({ containerID }), conditions: [{ type: 'Ready', status }] },
  });
  it.each<[string, Partial<ProbedContainer>, boolean]>([
    ['with a success', { result: 'success' }, true],
    ['with a failure', { result: 'failure' }, false],
    [
      'with a failure, with any status of the API',
      { result: 'failure', pod: saidByApi('True'), agentStartedAt: 60_000 },
      false,
    ],
    ['of which nothing is known', {}, false],
    ['without a readiness probe', { isProbed: false }, true],
    ['older than the agent that was ready for the API', { pod: saidByApi('True'), agentStartedAt: 10_001 }, true],
    ['older than the agent that was not ready for the API', { pod: saidByApi('False'), agentStartedAt: 10_001 }, false],
    ['older than the agent that the API does not know', { agentStartedAt: 10_001 }, false],
    [
      'older than the agent, of which the API only knows the predecessor',
      { pod: saidByApi('True', 'fake://c0'), agentStartedAt: 10_001 },
      false,
    ],
    [
      'that this agent has started, and that seems to be older',
      { pod: saidByApi('True'), agentStartedAt: 10_001, isOwn: true },
      false,
    ],
    [
      'that an earlier agent has started, and that seems to be younger',
      { pod: saidByApi('True'), agentStartedAt: -1, isOwn: false },
      true,
    ],
    ['hardly older than the agent', { pod: saidByApi('True'), agentStartedAt: 10_000 }, false],
  ])('%s is ready: %s', (_, given, expected) => {
    expect(isReady(probed(given))).toBe(expected);
  });
});

describe('what a probe has just found out', () => {
  const pod = aProbedPod('readiness');
  const generate = (ready: boolean, now: number) =>
    generatePodStatus({
      ...{ pod, podIsTerminal: false, runtimeName: 'fake', now },
      runtime: aRuntimeStatus([aContainer({ name: 'main', id: 'c1' })]),
      isReady: () => ready,
    });
  const before = generate(false, 1_000);
  const ready = { pod, type: 'readiness', containerId: 'c1', isSuccess: true } as const;

  it('is in the status and its conditions as if the status were made again', () => {
    const after = withProbed(before, ready, 5_000);
    expect(after.containerStatuses).toEqual(generate(true, 5_000).containerStatuses);
    const condition = (type: string) => after.conditions?.find((each) => each.type === type);
    for (const type of ['Ready', 'ContainersReady']) {
      expect(condition(type)).toEqual({ type, status: 'True', lastTransitionTime: '1970-01-01T00:00:05Z' });
    }
    expect(condition('Initialized')?.lastTransitionTime).toBe('1970-01-01T00:00:01Z');
    expect(JSON.stringify(withProbed(after, ready, 9_000))).toBe(JSON.stringify(after));
  });

  it.each([
    ['another instance', before, { ...ready, containerId: 'c0' }],
    ['one that does not run', aProbedStatus({ state: { waiting: {} } }), ready],
    ['one that has not started', aProbedStatus({ started: false }), ready],
  ])('of %s changes nothing', (_, status, change) => {
    expect(withProbed(status, change, 5_000).containerStatuses).toEqual(status.containerStatuses);
  });

  it('of the start shows in `started`', () => {
    const status = withProbed(aProbedStatus({ started: false }), { ...ready, type: 'startup' }, 5_000);
    expect(status.containerStatuses?.[0]).toMatchObject({ started: true, ready: false });
  });
});

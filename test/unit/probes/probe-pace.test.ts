import { describe, expect, it } from 'vitest';
import {
  LONGEST_PERIOD_MS,
  paceProblems,
  PROBE_FAST_ANNOTATION,
  PROBE_PERIOD_ANNOTATION,
  probePace,
  SHORTEST_PERIOD_MS,
} from '../../../src/model/probes/probe-pace.js';
import type { Probe } from '../../../src/model/pod/pod.js';
import { aProbedPod } from '../../support/a-probe.js';

const paceOf = (probe: Probe, annotations: Record<string, string> = {}) =>
  probePace(aProbedPod('readiness', probe, { annotations }), 'main', 'readiness', probe);

describe('the numbers of a probe', () => {
  it.each([
    ['nothing', {}],
    [
      'zeros',
      { timeoutSeconds: 0, periodSeconds: 0, successThreshold: 0, failureThreshold: 0, initialDelaySeconds: 0 },
    ],
  ])('of %s are those of the API', (_, probe) => {
    expect(paceOf(probe)).toEqual({
      ...{ periodMs: 10_000, untilSuccessMs: 10_000, initialDelayMs: 0, timeoutSeconds: 1 },
      ...{ successThreshold: 1, failureThreshold: 3 },
    });
  });

  it('are those of the spec where it has any', () => {
    const probe = {
      timeoutSeconds: 2,
      periodSeconds: 3,
      successThreshold: 4,
      failureThreshold: 5,
      initialDelaySeconds: 6,
    };
    expect(paceOf(probe)).toEqual({
      ...{ periodMs: 3_000, untilSuccessMs: 3_000, initialDelayMs: 6_000, timeoutSeconds: 2 },
      ...{ successThreshold: 4, failureThreshold: 5 },
    });
  });

  it.each([
    ['a period in milliseconds', { [PROBE_PERIOD_ANNOTATION]: 'main.readiness=250' }, 250, 250],
    [
      'spaces and other containers',
      { [PROBE_PERIOD_ANNOTATION]: ' other.readiness=1, main.readiness = 250 ,' },
      250,
      250,
    ],
    ['another type', { [PROBE_PERIOD_ANNOTATION]: 'main.liveness=250' }, 10_000, 10_000],
    ['a period until the first success', { [PROBE_FAST_ANNOTATION]: 'main.readiness=100' }, 10_000, 100],
    [
      'both',
      { [PROBE_PERIOD_ANNOTATION]: 'main.readiness=5000', [PROBE_FAST_ANNOTATION]: 'main.readiness=200' },
      5_000,
      200,
    ],
    [
      'one that is too short',
      { [PROBE_PERIOD_ANNOTATION]: `main.readiness=${SHORTEST_PERIOD_MS - 1}` },
      10_000,
      10_000,
    ],
    ['one that is too long', { [PROBE_FAST_ANNOTATION]: `main.readiness=${LONGEST_PERIOD_MS + 1}` }, 10_000, 10_000],
    ['nonsense', { [PROBE_PERIOD_ANNOTATION]: 'fast' }, 10_000, 10_000],
  ])('with %s', (_, annotations: Record<string, string>, periodMs, untilSuccessMs) => {
    expect(paceOf({}, annotations)).toMatchObject({ periodMs, untilSuccessMs });
  });
});

describe('an annotation that cannot be used', () => {
  it.each([
    ['main.readiness=250', []],
    ['fast', ['is not a setting (expected CONTAINER.startup, .readiness or .liveness, then =MILLISECONDS)']],
    [
      'main.readiness=1.5',
      ['is not a setting (expected CONTAINER.startup, .readiness or .liveness, then =MILLISECONDS)'],
    ],
    ['other.readiness=250', ['names a container that the pod does not have']],
    ['main.liveness=250', ['is about a probe that container main does not have']],
    ['main.readiness=99', ['is out of range (expected 100 to 3600000 milliseconds)']],
    ['main.readiness=3600001', ['is out of range (expected 100 to 3600000 milliseconds)']],
  ])('%s is named with what was expected', (value, problems) => {
    const pod = aProbedPod('readiness', {}, { annotations: { [PROBE_PERIOD_ANNOTATION]: value } });
    expect(paceProblems(pod)).toEqual(
      problems.map((problem) => `annotation rx-kubelet/probe-period-ms: "${value}" ${problem}`),
    );
  });
});

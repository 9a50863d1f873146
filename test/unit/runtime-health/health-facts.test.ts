import { describe, expect, it } from 'vitest';
import { EVENTED_PLEG } from '../../../src/model/pleg/pleg.js';
import {
  healthProblemAt,
  type HealthFacts,
  NO_HEALTH_FACTS,
  runtimeReportAt,
  withCadence,
  withRelist,
  withRuntimeStatus,
} from '../../../src/model/runtime-health/health-facts.js';

const MINUTE_MS = 60_000;
const NO_STATUS = 'container runtime status check may not have completed yet';
const NO_RELIST = 'PLEG is not healthy: pleg has yet to be successful';
const healthy: HealthFacts = { ...NO_HEALTH_FACTS, runtime: { readyAt: 0 }, lastRelistAt: 0 };

describe('the health of the runtime', () => {
  it.each<readonly [string, HealthFacts, number, string | undefined]>([
    ['is not known without a status and a relist', NO_HEALTH_FACTS, 0, `[${NO_STATUS}, ${NO_RELIST}]`],
    ['needs a relist', { ...healthy, lastRelistAt: undefined }, 0, NO_RELIST],
    ['needs a status', { ...healthy, runtime: {} }, 0, NO_STATUS],
    ['is good with both', healthy, 0, undefined],
    ['ends when the status is old', healthy, 30_000, 'container runtime is down'],
    [
      'ends when the relist is older than three minutes',
      { ...healthy, runtime: { readyAt: 180_001 } },
      180_001,
      'PLEG is not healthy: pleg was last seen active 3m0.001s ago; threshold is 3m0s',
    ],
    [
      'allows an older relist while the runtime sends events',
      { ...healthy, runtime: { readyAt: 180_001 }, cadence: EVENTED_PLEG },
      180_001,
      undefined,
    ],
    ['does not need a network', { ...healthy, runtime: { readyAt: 0, networkProblem: 'n' } }, 0, undefined],
  ])('%s', (_, facts, now, problem) => expect(healthProblemAt(facts, now)).toBe(problem));
});

describe('the runtime in the status of the Node', () => {
  it('has the problem of the network after the others', () => {
    expect(runtimeReportAt(NO_HEALTH_FACTS, MINUTE_MS)).toEqual({
      problems: [NO_STATUS, NO_RELIST, 'network state unknown'],
    });
  });

  it('has the handlers and features of the last status', () => {
    const [handlers, features] = [[], { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false }];
    const runtime = { readyAt: 0, handlers, features };
    expect(runtimeReportAt({ ...healthy, runtime }, 0)).toEqual({ problems: [], handlers, features });
  });
});

describe('the facts about the health of the runtime', () => {
  const status = (isReady: boolean) => {
    const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({
      type,
      status: isReady,
      reason: '',
      message: '',
    }));
    return { status: { conditions }, runtimeHandlers: [] };
  };

  it('have the time of the last ready status, and the problem of the last one', () => {
    const [ready, notReady] = [
      withRuntimeStatus(healthy, status(true), 5),
      withRuntimeStatus(healthy, status(false), 5),
    ];
    expect([ready.runtime.readyAt, ready.runtime.runtimeProblem]).toEqual([5, undefined]);
    expect([notReady.runtime.readyAt, notReady.runtime.runtimeProblem]).toEqual([
      0,
      'container runtime not ready: RuntimeReady=false reason: message:',
    ]);
  });

  it('have the time of the last relist', () => {
    expect(withRelist(healthy, 5)).toEqual({ ...healthy, lastRelistAt: 5 });
  });

  it('are the same value after a cadence that they have', () => {
    expect(withCadence(healthy, EVENTED_PLEG)).toEqual({ ...healthy, cadence: EVENTED_PLEG });
    expect(withCadence(healthy, healthy.cadence)).toBe(healthy);
  });
});

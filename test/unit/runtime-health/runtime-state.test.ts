import { describe, expect, it } from 'vitest';
import {
  aggregateText,
  foldRuntimeStatus,
  type RuntimeState,
  runtimeProblems,
  UNKNOWN_RUNTIME_STATE,
} from '../../../src/model/runtime-health/runtime-state.js';

type Condition = readonly [type: string, status: boolean];
const answer = (...conditions: readonly Condition[]) => ({
  status: {
    conditions: conditions.map(([type, status]) => ({ type, status, reason: 'R', message: 'M' })),
    runtimeHandlers: [],
  },
});
const well: readonly Condition[] = [
  ['RuntimeReady', true],
  ['NetworkReady', true],
];

describe('what the runtime says of itself', () => {
  const before: RuntimeState = { readyAt: 5, runtimeProblem: 'old', networkProblem: 'old' };
  it.each<readonly [string, ReturnType<typeof answer> | { status: undefined }, RuntimeState]>([
    ['all is well', answer(...well), { readyAt: 9, runtimeProblem: undefined, networkProblem: undefined }],
    [
      'the network is not ready',
      answer(['RuntimeReady', true], ['NetworkReady', false]),
      {
        readyAt: 9,
        runtimeProblem: undefined,
        networkProblem: 'container runtime network not ready: NetworkReady=false reason:R message:M',
      },
    ],
    [
      'the runtime is not ready',
      answer(['RuntimeReady', false], ['NetworkReady', true]),
      {
        readyAt: 5,
        runtimeProblem: 'container runtime not ready: RuntimeReady=false reason:R message:M',
        networkProblem: undefined,
      },
    ],
    [
      'it says nothing',
      { status: undefined },
      {
        readyAt: 5,
        runtimeProblem: 'container runtime not ready: <nil>',
        networkProblem: 'container runtime network not ready: <nil>',
      },
    ],
  ])('%s', (_, status, expected) => {
    expect(foldRuntimeStatus(before, status, 9)).toEqual(expected);
  });

  it('what it offers is as it was when it was ready last', () => {
    const offers = {
      runtimeHandlers: [{ name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
      features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false },
    };
    const known = foldRuntimeStatus(before, { ...answer(...well), ...offers }, 9);
    expect(known).toMatchObject({ handlers: offers.runtimeHandlers, features: offers.features });
    const nothing = { runtimeHandlers: [], features: undefined };
    expect(foldRuntimeStatus(known, { ...answer(['RuntimeReady', false]), ...nothing }, 10)).toMatchObject({
      handlers: offers.runtimeHandlers,
      features: offers.features,
    });
    expect(foldRuntimeStatus(known, { ...answer(...well), ...nothing }, 10)).toMatchObject({
      handlers: [],
      features: undefined,
    });
  });
});

describe('why nothing is synchronised', () => {
  const ready: RuntimeState = { readyAt: 1_000 };
  it.each<readonly [string, RuntimeState, number, string | undefined, readonly string[]]>([
    [
      'not asked yet',
      UNKNOWN_RUNTIME_STATE,
      0,
      undefined,
      ['container runtime status check may not have completed yet'],
    ],
    ['well', ready, 1_000, undefined, []],
    ['without an answer for less than 30 s', ready, 30_999, undefined, []],
    ['without an answer for 30 s', ready, 31_000, undefined, ['container runtime is down']],
    ['PLEG is behind', ready, 1_000, 'late', ['PLEG is not healthy: late']],
    [
      'everything at once, in this order',
      { readyAt: 1_000, runtimeProblem: 'not ready' },
      31_000,
      'late',
      ['container runtime is down', 'PLEG is not healthy: late', 'not ready'],
    ],
    ['the network alone holds nothing up', { readyAt: 1_000, networkProblem: 'no network' }, 1_000, undefined, []],
  ])('%s', (_, state, now, pleg, expected) => {
    expect(runtimeProblems(state, now, pleg)).toEqual(expected);
  });

  it('is one text with each problem once, in brackets when there are several', () => {
    expect(aggregateText(['a'])).toBe('a');
    expect(aggregateText(['a', 'b'])).toBe('[a, b]');
    expect(aggregateText(['a', 'b', 'a'])).toBe('[a, b]');
    expect(aggregateText(['a', 'a'])).toBe('a');
  });
});

import { expect, it } from 'vitest';
import { kubeletConfiguration, toAgentConfig } from '../../../src/cli/config/fields/kubelet-configuration.js';
import { evictionPolicy } from '../../../src/cli/config/settings/eviction-policy.js';

const policyOf = (fields: object) =>
  evictionPolicy(toAgentConfig(kubeletConfiguration.parse(fields), new Set(Object.keys(fields))));

it('the policy of a configuration has its thresholds, its periods, and limits of pods unless these are switched off', () => {
  expect(
    policyOf({
      evictionHard: { 'pid.available': '10' },
      evictionPressureTransitionPeriod: '90s',
      evictionMaxPodGracePeriod: 7,
    }),
  ).toEqual({
    thresholds: [{ signal: 'pid.available', value: { amount: 10, format: 'DecimalSI' }, gracePeriodMs: 0 }],
    pressureTransitionMs: 90_000,
    maxPodGraceSeconds: 7,
    enforcesLocalLimits: true,
  });
  expect(policyOf({})).toMatchObject({ thresholds: [], pressureTransitionMs: 300_000, enforcesLocalLimits: true });
});

it('a configuration with neither thresholds nor limits of pods evicts nothing', () => {
  expect(policyOf({ localStorageCapacityIsolation: false })).toBeUndefined();
});

import { describe, expect, it } from 'vitest';
import { admitPod } from '../../../src/model/admission/admit-pod.js';
import type { Rejection } from '../../../src/model/admission/rejection.js';
import type { Taint } from '../../../src/model/node/node.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';
import { nodeFacts } from '../../support/node-facts.js';

type Tolerations = PodSpec['tolerations'];
const verdict = (tolerations: Tolerations, taints: readonly Taint[], source = 'api'): Rejection | undefined =>
  admitPod(() => ({ ...nodeFacts, taints }))(aPod({ source, spec: { tolerations } }), []);

describe('a tainted node', () => {
  it.each<{ tolerations?: Tolerations; effect?: string; source?: string; fits: boolean }>([
    { fits: false },
    { effect: 'NoSchedule', fits: true },
    { effect: 'PreferNoSchedule', fits: true },
    { source: 'file', fits: true },
    { tolerations: [{ key: 'team', value: 'red', effect: 'NoExecute' }], fits: true },
    { tolerations: [{ key: 'team', operator: 'Equal', value: 'red' }], fits: true },
    { tolerations: [{ key: 'team', operator: 'Exists' }], fits: true },
    { tolerations: [{ operator: 'Exists' }], fits: true },
    { tolerations: [{ key: 'team', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }], fits: true },
    { tolerations: [{ key: 'team', operator: 'Exists', effect: 'NoSchedule' }], fits: false },
    { tolerations: [{ key: 'team', value: 'blue' }], fits: false },
    { tolerations: [{ key: 'team' }], fits: false },
    { tolerations: [{ key: 'other', operator: 'Exists' }], fits: false },
    { tolerations: [{ key: 'team', operator: 'Lt', value: 'red' }], fits: false },
  ])('takes in who tolerates it: %j', ({ tolerations, effect = 'NoExecute', source, fits }) => {
    const rejection: Rejection = {
      reason: 'TaintToleration',
      message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    };
    expect(verdict(tolerations, [{ key: 'team', value: 'red', effect }], source)).toEqual(fits ? undefined : rejection);
  });

  it.each<[boolean, string | undefined, string | undefined]>([
    [true, '2026-01-01T00:00:00Z', undefined],
    [true, undefined, 'NodeAffinity'],
    [false, '2026-01-01T00:00:00Z', 'NodeAffinity'],
  ])('keeps who was let in before, as long as its Node was not read: %s, %s', (isProvisional, startTime, reason) => {
    const pod = aPod({ source: 'api', spec: { nodeSelector: { zone: 'a' } } });
    const facts = { ...nodeFacts, isProvisional, taints: [{ key: 'a', effect: 'NoExecute' }] };
    expect(admitPod(() => facts)({ ...pod, status: { startTime } }, [])?.reason).toBe(reason);
  });

  it('asks for every taint, and for one without a value too', () => {
    const taints = [
      { key: 'a', effect: 'NoExecute' },
      { key: 'b', effect: 'NoExecute' },
    ];
    const tolerating = (...keys: readonly string[]) =>
      verdict(
        keys.map((key) => ({ key, operator: 'Equal' })),
        taints,
      )?.reason;
    expect([tolerating('a'), tolerating('a', 'b')]).toEqual(['TaintToleration', undefined]);
  });
});

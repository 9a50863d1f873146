import { describe, expect, it } from 'vitest';
import { firstRejection } from '../../../src/model/admission/rejection.js';
import { foldConditions } from '../../../src/model/node/node-conditions.js';
import { admitUntilShutdown, reportWithShutdown } from '../../../src/model/shutdown/shutting-down.js';
import { aPod } from '../pods.js';

const features = { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false };
const CRITICAL = aPod({ priority: 2_000_001_000 });

describe('admission while the node shuts down', () => {
  it('rejects every pod, also a critical one', () => {
    const rejection = { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' };
    const admit = admitUntilShutdown(() => true);
    expect([admit(aPod(), []), admit(CRITICAL, [])]).toEqual([rejection, rejection]);
  });

  it('admits pods before it and after a cancellation', () => {
    let isShuttingDown = false;
    const admit = admitUntilShutdown(() => isShuttingDown);
    const reasons = [false, true, false].map((is) => {
      isShuttingDown = is;
      return admit(aPod(), [])?.reason;
    });
    expect(reasons).toEqual([undefined, 'NodeShutdown', undefined]);
  });

  it('is the last check: another reason comes first', () => {
    const outOfCpu = { reason: 'OutOfcpu', message: 'm' };
    const admit = firstRejection(
      () => outOfCpu,
      admitUntilShutdown(() => true),
    );
    expect(admit(aPod(), [])).toBe(outOfCpu);
  });
});

describe('the condition Ready while the node shuts down', () => {
  it.each<[string, readonly string[], boolean, 'True' | 'False', string, string]>([
    ['stays true without a shutdown', [], false, 'True', 'KubeletReady', 'kubelet is posting ready status'],
    ['is false', [], true, 'False', 'KubeletNotReady', 'node is shutting down'],
    [
      'names the runtime first',
      ['container runtime is down'],
      true,
      'False',
      'KubeletNotReady',
      '[container runtime is down, node is shutting down]',
    ],
  ])('%s', (_, problems, isShuttingDown, status, reason, message) => {
    const report = reportWithShutdown({ problems, features }, isShuttingDown);
    expect(report.features).toBe(features);
    const { conditions } = foldConditions([], {
      pressure: { memory: false, disk: false, pid: false },
      problems: report.problems,
      now: '2026-01-01T00:00:00Z',
    });
    expect(conditions.at(-1)).toMatchObject({ type: 'Ready', status, reason, message });
  });
});

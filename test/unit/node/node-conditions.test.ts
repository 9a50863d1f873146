import { describe, expect, it } from 'vitest';
import type { NodeCondition } from '../../../src/model/node/node.js';
import { foldConditions, type NodePressure } from '../../../src/model/node/node-conditions.js';

const NO_PRESSURE: NodePressure = { memory: false, disk: false, pid: false };
const [EARLIER, NOW] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:10Z'];
const fold = (before: readonly NodeCondition[], pressure: Partial<NodePressure> = {}, ...problems: readonly string[]) =>
  foldConditions(before, { pressure: { ...NO_PRESSURE, ...pressure }, problems, now: NOW });
const well = foldConditions([], { pressure: NO_PRESSURE, problems: [], now: EARLIER }).conditions;

describe('the conditions of a node', () => {
  it('are there from the start, with readiness last, and say that there is enough of everything', () => {
    expect(fold([])).toEqual({
      conditions: [
        ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
        ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
        ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
        ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
      ].map(([type, status, reason, message]) => ({
        ...{ type, status, reason, message },
        ...{ lastHeartbeatTime: NOW, lastTransitionTime: NOW },
      })),
      events: ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'],
    });
  });

  it('beat and are left alone while nothing changes, those of others too', () => {
    const others: NodeCondition = { type: 'NetworkUnavailable', status: 'False', lastHeartbeatTime: EARLIER };
    // The text that an administrator has written into a pressure stays as long as its status does.
    const before = [others, ...well.map((one) => (one.type === 'PIDPressure' ? { ...one, message: 'plenty' } : one))];
    expect(fold(before)).toEqual({
      conditions: before.map((one) => (one === others ? one : { ...one, lastHeartbeatTime: NOW })),
      events: [],
    });
  });

  it.each<[keyof NodePressure, string, string, string, string]>([
    [
      'memory',
      'MemoryPressure',
      'KubeletHasInsufficientMemory',
      'kubelet has insufficient memory available',
      'NodeHasInsufficientMemory',
    ],
    ['disk', 'DiskPressure', 'KubeletHasDiskPressure', 'kubelet has disk pressure', 'NodeHasDiskPressure'],
    [
      'pid',
      'PIDPressure',
      'KubeletHasInsufficientPID',
      'kubelet has insufficient PID available',
      'NodeHasInsufficientPID',
    ],
  ])('say that %s runs short', (resource, type, reason, message, event) => {
    const { conditions, events } = fold(well, { [resource]: true });
    expect(conditions.find((one) => one.type === type)).toEqual({
      ...{ type, status: 'True', reason, message },
      ...{ lastHeartbeatTime: NOW, lastTransitionTime: NOW },
    });
    expect(events).toEqual([event]);
  });

  it.each<[string, readonly string[], string]>([
    ['one problem', ['container runtime is down'], 'container runtime is down'],
    ['several, each once', ['one', 'two', 'one'], '[one, two]'],
  ])('say why a node is not ready: %s', (_, problems, message) => {
    const { conditions, events } = fold(well, {}, ...problems);
    expect(conditions.at(-1)).toEqual({
      ...{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message },
      ...{ lastHeartbeatTime: NOW, lastTransitionTime: NOW },
    });
    expect(events).toEqual(['NodeNotReady']);
  });

  it('have another reason without another transition, and that it is ready again', () => {
    const broken = fold(well, {}, 'one').conditions.map((one) => ({ ...one, lastTransitionTime: EARLIER }));
    const still = fold(broken, {}, 'two');
    expect([still.conditions.at(-1)?.message, still.conditions.at(-1)?.lastTransitionTime, still.events]).toEqual([
      'two',
      EARLIER,
      [],
    ]);
    const again = fold(still.conditions);
    expect([again.conditions.at(-1)?.status, again.conditions.at(-1)?.lastTransitionTime, again.events]).toEqual([
      'True',
      NOW,
      ['NodeReady'],
    ]);
  });
});

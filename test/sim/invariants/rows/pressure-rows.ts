import type { HistoryEviction } from '../../../../src/tools/sim/histories/history.js';
import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import { agentStarted, exited, journal, type Rows, sandbox, started, wantedByApi } from '../story.js';

/** Two pods of the API: one of a low priority, and a larger one of a high priority. A third one is critical. */
const low = aPod({ source: 'api', spec: { priority: 0 } });
const high = aPod({ uid: 'uid-2', name: 'high', source: 'api', spec: { priority: 1_000 } });
const critical = aPod({ uid: 'uid-3', name: 'critical', source: 'api', spec: { priority: 2_000_000_000 } });
const ofHigh = { uid: 'uid-2', pod: 'high' };
const NAMES: Readonly<Record<string, string>> = { 'uid-1': 'web', 'uid-2': 'high', 'uid-3': 'critical' };

/** A measurement of the memory. The hard threshold is 100, the soft one 200 for 30 s, each with 10 more to reclaim. */
const memory = (at: number, available: number): WorldEvent => ({
  ...{ kind: 'node-measured', at: at * 1000 },
  observations: { 'memory.available': { available, capacity: 1_000, timeMs: at } },
});
const measured = (at: number, use: Readonly<Record<string, number>>): WorldEvent => ({
  ...{ kind: 'pods-measured', at: at * 1000 },
  figures: Object.entries(use).map(([uid, workingSet]) => ({ uid, workingSet, containers: [], volumes: [] })),
});
const evicted = (at: number, uid: string, signal = 'memory.available'): WorldEvent =>
  journal(
    at,
    { kind: 'kill-requested', reason: `the node is short of memory (${signal}: 1 available, less than 2)` },
    { pod: { uid, name: NAMES[uid] ?? '', namespace: 'default' } },
  );
const rejected = (at: number): WorldEvent =>
  journal(
    at,
    { kind: 'admission-rejected', reason: 'Evicted', message: 'The node had condition: [MemoryPressure]. ' },
    { pod: { uid: 'uid-1', name: 'web', namespace: 'default' } },
  );
const added = (at: number): WorldEvent =>
  journal(
    at,
    { kind: 'config', op: 'ADD', source: 'api' },
    { pod: { uid: 'uid-1', name: 'web', namespace: 'default' } },
  );
const begin = [
  agentStarted(0),
  wantedByApi(0, low, high, critical),
  sandbox(1, 's1'),
  started(2, 'a'),
  started(2, 'b', { ...ofHigh, sandboxId: 's2' }),
];
const both = { 'uid-1': 10, 'uid-2': 90 };

const minReclaim = { share: 0.01 };
const signal = 'memory.available';
/** The eviction of the node of every story. */
export const PRESSURE: HistoryEviction = {
  policy: {
    thresholds: [
      { signal, minReclaim, value: { amount: 100, format: 'DecimalSI' }, gracePeriodMs: 0 },
      { signal, minReclaim, value: { share: 0.2 }, gracePeriodMs: 30_000 },
    ],
    ...{ pressureTransitionMs: 60_000, maxPodGraceSeconds: 0, enforcesLocalLimits: true },
  },
  use: {},
};

/** Stories of nodes that are short of something. */
export const pressureRows: Rows = {
  'evictions-are-due': [
    ['the lower priority first', [begin, memory(10, 99), measured(10, both), evicted(10, 'uid-1')]],
    [
      'the higher priority first',
      [begin, memory(10, 99), measured(10, both), evicted(10, 'uid-2')],
      'is evicted before web',
    ],
    [
      'the higher priority, while the other one uses nothing',
      [begin, memory(10, 99), measured(10, { 'uid-1': 0, 'uid-2': 90 }), evicted(10, 'uid-2')],
    ],
    ['a critical pod', [begin, memory(10, 99), evicted(10, 'uid-3')], 'although it is static or critical'],
    ['enough memory', [begin, memory(10, 100), evicted(10, 'uid-1')], 'no threshold is met'],
    ['enough memory since', [begin, memory(10, 99), memory(11, 110), evicted(11, 'uid-1')], 'no threshold is met'],
    ['not yet the minimum reclaim', [begin, memory(10, 99), memory(20, 109), evicted(20, 'uid-1')]],
    [
      'another signal',
      [begin, memory(10, 99), evicted(10, 'uid-1', 'pid.available')],
      'no threshold is met for its grace period',
    ],
    [
      'a soft threshold too early',
      [begin, memory(10, 150), memory(39, 150), evicted(39, 'uid-1')],
      'no threshold is met',
    ],
    ['a soft threshold in time', [begin, memory(10, 150), memory(40, 150), evicted(40, 'uid-1')]],
    [
      'a soft threshold with a break',
      [begin, memory(10, 150), memory(30, 210), memory(40, 150), evicted(40, 'uid-1')],
      'no threshold is met',
    ],
    [
      'an old measurement',
      [begin, memory(10, 99), evicted(71, 'uid-1')],
      'is evicted 61000 ms after the last measurement',
    ],
    [
      'the next pod while the first one runs',
      [begin, memory(10, 99), evicted(10, 'uid-1'), memory(20, 99), evicted(20, 'uid-2')],
      'is evicted 10000 ms after another pod',
    ],
    [
      'the next pod once the first one has ended',
      [begin, memory(10, 99), evicted(10, 'uid-1'), exited(11, 'a', 137), memory(12, 99), evicted(12, 'uid-2')],
    ],
    [
      'the next pod after the wait for the first one',
      [begin, memory(10, 99), evicted(10, 'uid-1'), memory(40, 99), evicted(40, 'uid-2')],
    ],
    [
      'a node that stays short, with a pod that may go',
      [begin, added(3), memory(10, 99), memory(129, 99), memory(130, 99)],
      'nothing is evicted from a node that is short for 120000 ms',
    ],
    ['a node that is short with breaks', [begin, added(3), memory(10, 99), memory(70, 300), memory(130, 99)]],
    ['a node that stays short and evicts', [begin, added(3), memory(10, 99), evicted(20, 'uid-1'), memory(130, 99)]],
    ['a rejection in time', [begin, memory(10, 99), memory(20, 300), rejected(115)]],
    [
      'a rejection long after it',
      [begin, memory(10, 99), memory(20, 300), rejected(116)],
      'is rejected 106000 ms after the last shortage',
    ],
    [
      'a rejection without a shortage',
      [begin, memory(10, 300), rejected(11)],
      'is rejected Infinity ms after the last shortage',
    ],
  ],
};

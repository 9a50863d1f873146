import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import { agentKilled, agentStarted, exited, journal, type Rows, sandbox, started, wanted } from '../story.js';

/** In a group of 10 s, and in the next one, of 5 s. */
const low = aPod({ spec: { priority: 0 } });
const high = aPod({ uid: 'uid-2', name: 'high', spec: { priority: 1_000 } });
const ofHigh = { uid: 'uid-2', pod: 'high' };
const requested = (at: number, isDelayed = true): WorldEvent => ({
  ...{ kind: 'shutdown-requested', at: at * 1000, isDelayed },
});
const off = (at: number): WorldEvent => ({ kind: 'power-lost', at: at * 1000 });
const stopped = (at: number, uid: string, graceSeconds: number, reason = 'the node shuts down'): WorldEvent =>
  journal(
    at,
    { kind: 'kill-requested', reason, graceSeconds },
    { pod: { uid, name: uid === 'uid-2' ? 'high' : 'web', namespace: 'default' } },
  );
const begin = [
  agentStarted(0),
  wanted(0, low, high),
  sandbox(1, 's1'),
  started(2, 'a'),
  started(2, 'b', { ...ofHigh, sandboxId: 's2' }),
];
const endsInOrder = [
  requested(10),
  stopped(10, 'uid-1', 10),
  exited(12, 'a', 143),
  stopped(12, 'uid-2', 5),
  exited(13, 'b', 143, ofHigh),
];

/** Stories of shutdowns of the machine. */
export const shutdownRows: Rows = {
  'shutdown-in-order': [
    ['one group after the other', [begin, endsInOrder, off(13)]],
    [
      'both at once',
      [begin, requested(10), stopped(10, 'uid-1', 10), stopped(10, 'uid-2', 5)],
      'is stopped while web of a lower group runs',
    ],
    [
      'the next one after the time of the first',
      [begin, requested(10), stopped(10, 'uid-1', 10), stopped(20, 'uid-2', 5)],
    ],
    ['a pod that is stopped for another reason', [begin, requested(10), stopped(10, 'uid-2', 5, 'a test')]],
    [
      'more seconds than the group has',
      [begin, requested(10), stopped(10, 'uid-1', 11)],
      'gets 11 s, but its group has 10 s',
    ],
    [
      'off while a pod runs',
      [begin, requested(10), stopped(10, 'uid-1', 10), off(19)],
      'runs when the machine is off, before the time of its group is over',
    ],
    [
      'off after the time of a group that has begun early',
      [begin, requested(10), stopped(10, 'uid-1', 10), exited(12, 'a', 143), stopped(12, 'uid-2', 5), off(17)],
    ],
    [
      'off after the wait for a pod that does not stop',
      [begin, requested(10), exited(11, 'a', 143), stopped(11, 'uid-2', 1), off(21)],
    ],
    ['off after the time of all groups', [begin, requested(10), off(25)]],
    ['off long after it', [begin, requested(10), off(31)], 'the machine is off 1000 ms after the time of all groups'],
    ['a pod that has started since', [begin, endsInOrder, started(14, 'c'), off(15)]],
    ['without a lock', [begin, requested(10, false), off(10)]],
    ['an agent that is killed meanwhile', [begin, requested(10), agentKilled(11), off(11)]],
  ],
};

import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import { agentStarted, call, exited, journal, type Rows, sandbox, started, wanted, wantedByApi } from '../story.js';

/** The node of the stories has room for two pods. */
const web = aPod({ source: 'api' });
const job = aPod({ uid: 'uid-2', name: 'job', source: 'api' });
const dns = aPod({ uid: 'dns', name: 'dns' });
const low = aPod({ uid: 'low', name: 'low', source: 'api', spec: { priority: 2_000_000_000 } });
const high = aPod({ uid: 'high', name: 'high', source: 'api', spec: { priority: 2_000_001_000 } });
const NAMES: Readonly<Record<string, string>> = { 'uid-1': 'web', 'uid-2': 'job' };
const about = (uid: string) => ({ pod: { uid, name: NAMES[uid] ?? uid, namespace: 'default' } });

const added = (at: number, ...uids: readonly string[]): readonly WorldEvent[] =>
  uids.map((uid) => journal(at, { kind: 'config', op: 'ADD', source: 'api' }, about(uid)));
const preempted = (at: number, uid: string, by: string): WorldEvent =>
  journal(
    at,
    {
      kind: 'kill-requested',
      reason: `it makes room for the critical pod ${by}_default(${by}), for which the node lacks pods 1`,
    },
    about(uid),
  );
const starts = (at: number, uid: string): WorldEvent => call(at, 'RunPodSandbox', { config: { metadata: { uid } } });
const rejected = (at: number, uid: string): WorldEvent =>
  journal(at, { kind: 'admission-rejected', reason: 'OutOfpods', message: 'no' }, about(uid));

const begin = [
  agentStarted(0),
  wantedByApi(0, web, job, low, high),
  wanted(0, dns),
  added(1, 'uid-1', 'uid-2'),
  sandbox(1, 's1'),
  started(2, 'a'),
  started(2, 'b', { uid: 'uid-2', pod: 'job', sandboxId: 's2' }),
];

/** Stories of nodes that are full. */
export const roomRows: Rows = {
  'room-is-made': [
    [
      'a pod that is stopped for a static one, which starts after it',
      [begin, added(3, 'dns'), preempted(3, 'uid-1', 'dns'), exited(5, 'a', 0), starts(5, 'dns')],
    ],
    [
      'one that starts before',
      [begin, added(3, 'dns'), preempted(3, 'uid-1', 'dns'), starts(4, 'dns')],
      'starts beside 2 pods on a node for 2',
    ],
    [
      'one that starts before, once the time of the other one is over',
      [begin, added(3, 'dns'), preempted(3, 'uid-1', 'dns'), starts(13, 'dns')],
    ],
    [
      'two pods that are stopped where one is enough',
      [begin, added(3, 'dns'), preempted(3, 'uid-1', 'dns'), preempted(3, 'uid-2', 'dns')],
      'needs the room of 1 pods, not of 2',
    ],
    [
      'two pods that are stopped for two others',
      [begin, added(3, 'dns', 'low'), preempted(3, 'uid-1', 'dns'), preempted(3, 'uid-2', 'low')],
    ],
    ['a pod that is stopped for an ordinary one', [begin, preempted(3, 'uid-1', 'uid-2')], 'which is not critical'],
    ['a static pod', [begin, added(3, 'dns'), preempted(3, 'dns', 'high')], 'although it is critical, too'],
    ['a more critical pod', [begin, added(3, 'high'), preempted(3, 'high', 'low')], 'although it is critical, too'],
    ['a less critical pod', [begin, added(3, 'low'), preempted(3, 'low', 'high')]],
    ['a pod that starts on a full node', [begin, added(3, 'low'), starts(3, 'low')], 'starts beside 2 pods'],
    [
      'a pod that starts beside one that was rejected',
      [begin, added(3, 'low'), rejected(3, 'uid-1'), starts(3, 'low')],
    ],
    [
      'a pod that starts while others run that an earlier agent has admitted',
      [begin, agentStarted(9, 2), starts(10, 'low')],
    ],
  ],
};

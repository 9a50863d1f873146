import type { Pod, PodStatus } from '../../../../src/model/pod/pod.js';
import type { StoredObject } from '../../../../src/tools/sim/api-server/stored-object.js';
import type { WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import {
  agentStarted,
  begin,
  exited,
  heard,
  pass,
  passEnded,
  POD,
  type Rows,
  running,
  shown,
  started,
  upToDate,
  wanted,
  wantedByApi,
} from '../story.js';

const ms = (seconds: number): number => seconds * 1000;
const stored = (pod: object): StoredObject => pod as unknown as StoredObject;

interface Change {
  readonly before?: Pod;
  readonly by?: 'agent' | 'user';
  readonly type?: 'ADDED' | 'MODIFIED' | 'DELETED';
}
const inApi = (
  at: number,
  pod: object,
  { before, by = 'agent', type = 'MODIFIED' }: Change = {},
  resource = 'pods',
): WorldEvent => ({
  ...{ kind: 'api-changed', at: ms(at), resource, type, by, object: stored(pod) },
  ...(before && { before: stored(before) }),
});
const answered = (
  at: number,
  method: 'GET' | 'PATCH' | 'POST',
  path: string,
  code = 200,
  message?: string,
): WorldEvent => ({
  ...{ kind: 'api-answered', at: ms(at), by: 'agent', method, path, isWatch: false, code },
  ...(message !== undefined && { message }),
});

const api = aPod({ source: 'api' });
const showing = (status: PodStatus, pod: Pod = api): Pod => ({ ...pod, status });
const isRunning: PodStatus = { phase: 'Running', containerStatuses: [running('main', 'a')] };
const beginApi = [agentStarted(0), wantedByApi(0, api), heard(0, 'ADD')];
const runs = [...beginApi, ...upToDate, shown(5, isRunning, api)];

const going = aPod({ source: 'api', deletionTimestamp: '2026-01-01T00:00:30Z' });
const counted = (restartCount: number, rest: PodStatus = {}): Pod =>
  showing({ phase: 'Running', containerStatuses: [running('main', 'a', { restartCount })], ...rest });

const HASH = 'kubernetes.io/config.hash';
const MIRROR = 'kubernetes.io/config.mirror';
const fixed: Pod = {
  ...POD,
  metadata: { ...POD.metadata, annotations: { ...POD.metadata.annotations, [HASH]: 'h1' } },
};
const mirror = (hash: string, phase = 'Running', name = fixed.metadata.name): Pod => ({
  ...fixed,
  metadata: { ...fixed.metadata, name, uid: `mirror-${name}`, annotations: { [MIRROR]: hash } },
  status: { phase },
});
const fixedRuns = [
  agentStarted(0),
  wanted(0, fixed),
  heard(0, 'ADD'),
  ...upToDate,
  shown(5, { phase: 'Running' }, fixed),
];

const node = (ready: string) => ({
  metadata: { name: 'n' },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const lease = { metadata: { namespace: 'kube-node-lease', name: 'n' }, spec: { renewTime: '2026-01-01T00:00:00Z' } };
const renewed = (at: number) => inApi(at, lease, {}, 'leases');
const renewedUntil = (end: number) =>
  Array.from({ length: Math.floor(end / 10) }, (_, index) => renewed(10 * (index + 1)));

const STATUS = '/api/v1/namespaces/default/pods/web/status';
const times = (count: number, everySeconds: number) =>
  Array.from({ length: count }, (_, index) => answered(index * everySeconds, 'PATCH', STATUS));

export const clusterRows: Rows = {
  'api-shows-what-runs': [
    ['what runs is shown', [runs, inApi(6, showing(isRunning))]],
    ['the phase was never written', [runs, inApi(6, showing({ phase: 'Pending' }))], 'is Pending in the API'],
    [
      'a former instance is shown',
      [runs, inApi(6, showing({ ...isRunning, containerStatuses: [running('main', 'old')] }))],
      'runs as a, but',
    ],
    ['what has ended is shown to run', [runs, inApi(6, showing(isRunning)), exited(7, 'a')], 'does not run'],
    [
      'it is shown to have ended, and runs',
      [beginApi, upToDate, shown(5, { phase: 'Failed' }, api), inApi(6, showing({ phase: 'Failed' }))],
      'runs though the API has Failed',
    ],
    ['a sync has not ended yet', [runs, inApi(6, showing({ phase: 'Pending' })), pass(7)]],
  ],
  'api-deletions-finish': [
    ['it was not asked for', [beginApi, inApi(0, api)]],
    ['it still exists', [beginApi, inApi(0, going)], 'still exists'],
    ['it is gone', [beginApi, inApi(0, going), inApi(40, going, { type: 'DELETED' })]],
    ['it was only just asked for', [beginApi, wantedByApi(960, going), inApi(960, going)]],
  ],
  'api-status-goes-forward': [
    [
      'it ends',
      [inApi(1, { ...counted(0), status: { ...counted(0).status, phase: 'Failed' } }, { before: counted(0) })],
    ],
    ['it comes back', [inApi(1, counted(0), { before: showing({ phase: 'Failed' }) })], 'went from Failed to Running'],
    ['it is restarted', [inApi(1, counted(2), { before: counted(1) })]],
    ['a restart is forgotten', [inApi(1, counted(1), { before: counted(2) })], 'from 2 to 1'],
    ['its statuses are forgotten', [inApi(1, showing({ phase: 'Running' }), { before: counted(2) })], 'from 2 to 0'],
    [
      'its start is another one',
      [
        inApi(1, counted(0, { startTime: '2026-01-01T00:01:00Z' }), {
          before: counted(0, { startTime: '2026-01-01T00:00:00Z' }),
        }),
      ],
      'start time went',
    ],
  ],
  'api-pods-outlive-containers': [
    ['nothing runs any more', [runs, exited(8, 'a'), inApi(9, going, { before: going, type: 'DELETED' })]],
    ['something runs', [runs, inApi(9, going, { before: going, type: 'DELETED' })], 'runs though the agent'],
    ['a user does not wait', [runs, inApi(9, going, { before: going, type: 'DELETED', by: 'user' })]],
    [
      'it was not asked for',
      [runs, exited(8, 'a'), inApi(9, api, { before: api, type: 'DELETED' })],
      'without a request',
    ],
  ],
  'mirrors-match': [
    ['it has its mirror', [fixedRuns, inApi(6, mirror('h1'))]],
    ['it has none', [fixedRuns, inApi(6, api)], 'has no mirror'],
    ['it has the one of another version', [fixedRuns, inApi(6, mirror('h0'))], 'of another version'],
    ['its mirror shows something else', [fixedRuns, inApi(6, mirror('h1', 'Pending'))], 'is Pending in its mirror'],
    [
      'another one is left',
      [fixedRuns, inApi(6, mirror('h1')), inApi(6, mirror('h1', 'Running', 'gone'))],
      'a mirror without a pod',
    ],
    ['there is no API server', [fixedRuns]],
  ],
  'few-status-writes': [
    ['forty in a minute', [times(40, 1)]],
    ['forty-one in a minute', [times(41, 1)], '41 times in a minute'],
    ['forty-five in a minute with a start', [started(20, 'a'), times(45, 1)]],
    ['forty-six in a minute with a start', [started(20, 'a'), times(46, 1)], '(expected 45 at most)'],
    ['many over a long time', [times(200, 2)]],
  ],
  'nothing-forbidden': [
    ['it is answered', [answered(1, 'GET', '/api/v1/pods')]],
    ['it is forbidden', [answered(1, 'GET', '/api/v1/pods', 403, 'no')], 'answered with 403: no'],
    ['it is not understood', [answered(1, 'PATCH', STATUS, 422, 'bad')], 'answered with 422'],
    ['it is another pod by now', [answered(1, 'PATCH', STATUS, 422, 'metadata.uid: field is immutable')]],
    [
      'the pod has gone meanwhile',
      [
        inApi(1, api, { type: 'DELETED' }),
        answered(2, 'GET', `/api/v1/namespaces/${api.metadata.namespace}/pods/${api.metadata.name}`, 403),
      ],
    ],
    ['there has never been such a pod', [answered(2, 'GET', '/api/v1/namespaces/default/pods/never', 403)], 'with 403'],
  ],
  'node-stays-alive': [
    ['all is well', [agentStarted(0), inApi(1, node('True'), {}, 'nodes'), renewedUntil(1000)]],
    [
      'the lease is forgotten',
      [agentStarted(0), inApi(1, node('True'), {}, 'nodes'), renewedUntil(500)],
      'was not renewed',
    ],
    ['it is not ready', [agentStarted(0), inApi(1, node('False'), {}, 'nodes'), renewedUntil(1000)], 'is Ready False'],
    ['it is not registered', [agentStarted(0), renewedUntil(1000)], 'not registered'],
    ['there is no API server', [begin, started(1, 'a'), pass(2), passEnded(3)]],
  ],
};

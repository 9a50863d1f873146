import { Map as ImmutableMap } from 'immutable';
import type { NodeState } from '../../../src/model/node-state/node-state.js';
import { reduce } from '../../../src/model/node-state/reduce.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { aPod } from '../../support/a-pod.js';
import type { Row } from './row.js';

const requests = (cpu: string) => ({ main: { requests: { cpu } } });
const sized = (cpu: string, generation: number): StateChange => {
  const sketch = aPod({ spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } });
  return { kind: 'pod-set', pod: { ...sketch, metadata: { ...sketch.metadata, generation } } };
};
/** The same for a pod with a limit as a whole. */
const ofWhole = (cpu: string, generation: number): StateChange => {
  const sketch = aPod({ spec: { resources: { limits: { cpu } } } });
  return { kind: 'pod-set', pod: { ...sketch, metadata: { ...sketch.metadata, generation } } };
};
const waits = { reason: 'Deferred', message: 'no room', generation: 2, triedAt: 5 } as const;
const deferred: StateChange = { kind: 'resize-pending', uid: 'uid-1', pending: waits };
const allocated: StateChange = { kind: 'resize-allocated', uid: 'uid-1' };
const found: StateChange = { kind: 'allocation-found', uid: 'uid-1', amounts: { containers: requests('3') } };
const resized: StateChange = {
  ...{ kind: 'instance-resized', uid: 'uid-1', container: 'main', amounts: { containerId: 'c1' } },
};
const resizeFailed: StateChange = { kind: 'resize-failed', uid: 'uid-1', error: 'no' };
const cpuOf = ({ wanted: { pods, asked } }: NodeState) =>
  [pods.byUid.get('uid-1'), asked.get('uid-1')].map((one) => one?.spec.containers[0]?.resources?.requests?.cpu);
const resizes = ({ resizes: { allocated, actuated, pending, failures } }: NodeState) =>
  [allocated, actuated, pending, failures].map((map) => map.toJS());
const ofUid = <T>(value: T) => ImmutableMap([['uid-1', value]]);
const ofMain = (containerId: string) => ({ containers: ImmutableMap([['main', { containerId }]]) });

/** The changes about resizes. */
export const resizeRows = {
  'resizes-restored': [
    [
      'the checkpoints of an earlier agent, whose amounts a pod has from the first moment',
      [],
      { kind: 'resizes-restored', allocated: ofUid({ containers: requests('3') }), actuated: ofUid(ofMain('c1')) },
      (state) => [resizes(state), cpuOf(reduce(state, sized('1', 1)))],
      [
        [
          { 'uid-1': { containers: requests('3') } },
          { 'uid-1': { containers: { main: { containerId: 'c1' } } } },
          {},
          {},
        ],
        ['3', '1'],
      ],
    ],
  ],
  'allocation-found': [
    ['the amounts with which containers were created', [sized('1', 1)], found, cpuOf, ['3', '1']],
    ['those of a pod that no source wants', [], found, cpuOf, [undefined, undefined]],
  ],
  'resize-allocated': [
    ['what the pod asks for', [sized('1', 1), sized('2', 2)], allocated, cpuOf, ['2', undefined]],
    [
      'the same, and the pod waits no longer and has no failure',
      [sized('1', 1), sized('2', 2), deferred, resizeFailed],
      allocated,
      resizes,
      [{ 'uid-1': { containers: requests('2'), generation: 2 } }, {}, {}, {}],
    ],
    [
      'the amounts of the pod as a whole, which has those of before until it was given them, also after a second resize',
      [ofWhole('1', 1), ofWhole('2', 2), allocated, ofWhole('3', 3)],
      allocated,
      (state) => resizes(state)[1],
      { 'uid-1': { containers: {}, pod: { limits: { cpu: '1' } } } },
    ],
    ['nothing, for a pod that has what it asks for', [sized('1', 1)], allocated, resizes, [{}, {}, {}, {}]],
  ],
  'resize-pending': [
    ['a wait', [sized('1', 1), sized('2', 2)], deferred, resizes, [{}, {}, { 'uid-1': waits }, {}]],
    [
      'the end of a wait, once the source takes the resize back',
      [sized('1', 1), sized('2', 2), deferred],
      sized('1', 3),
      resizes,
      [{}, {}, {}, {}],
    ],
  ],
  'instance-resized': [
    ['an instance', [], resized, resizes, [{}, { 'uid-1': { containers: { main: { containerId: 'c1' } } } }, {}, {}]],
  ],
  'pod-resized': [
    [
      'what the pod as a whole has',
      [resized],
      { kind: 'pod-resized', uid: 'uid-1', amounts: { limits: { cpu: '2' } } },
      (state) => resizes(state)[1],
      { 'uid-1': { containers: { main: { containerId: 'c1' } }, pod: { limits: { cpu: '2' } } } },
    ],
  ],
  'resize-failed': [['a failure', [], resizeFailed, resizes, [{}, {}, {}, { 'uid-1': 'no' }]]],
  'resizes-saved': [
    [
      'what the checkpoints have',
      [found],
      { kind: 'resizes-saved', allocated: ofUid({ containers: {} }), actuated: ofUid(ofMain('c1')) },
      ({ resizes: { saved } }) => [saved.allocated.size, saved.actuated.size],
      [1, 1],
    ],
  ],
  'resizes-retained': [
    [
      'one pod of two',
      [found, resized, deferred, { ...resizeFailed, uid: 'other' }],
      { kind: 'resizes-retained', uids: new Set(['other']) },
      resizes,
      [{}, {}, {}, { other: 'no' }],
    ],
  ],
} satisfies Partial<Readonly<Record<StateChange['kind'], readonly Row[]>>>;

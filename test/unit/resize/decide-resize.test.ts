import { describe, expect, it } from 'vitest';
import { admitPod } from '../../../src/model/admission/admit-pod.js';
import type { Admit } from '../../../src/model/admission/rejection.js';
import type { Amounts } from '../../../src/model/pod/allocated-resources.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import { decideResize, type ResizeContext } from '../../../src/model/resize/decide-resize.js';
import { inResizeOrder, type QueuedResize } from '../../../src/model/resize/resize-order.js';
import { aContainer, aNode, aPod } from '../pods.js';

const cpu = (amount: string, fields: Partial<Pod['spec']> = {}, uid = 'uid-1'): Pod =>
  aPod({ containers: [aContainer('web', { resources: { requests: { cpu: amount } } })], ...fields }, { uid });
const admit: Admit = admitPod(() => ({
  ...{ allocatable: { cpu: '1', pods: '10' }, kernelVersion: '6.1', allowedUnsafeSysctls: [], hasAppArmor: false },
  labels: {},
}));
const context: ResizeContext = { admit, isPreempted: () => false, resizesPods: true, swap: aNode() };

const memory = (request: string, limit?: string): Partial<Container> => ({
  resources: { requests: { memory: request }, ...(limit !== undefined && { limits: { memory: limit } }) },
});
const restarting = (request: string): Partial<Container> => ({
  ...memory(request),
  resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
});
const INFEASIBLE = {
  ...{ kind: 'pending', reason: 'Infeasible', detail: 'swap_limitation' },
  message: 'In-place resize of containers with swap is not supported.',
};

describe('a resize', () => {
  const other = cpu('500m', {}, 'other');
  const decided = (asked: Pod, others: readonly Pod[] = [other], ports = context) => {
    const decision = decideResize({ asked, has: cpu('100m', { priority: asked.spec.priority }) }, others, ports);
    return decision.kind === 'pending'
      ? `${decision.reason}: ${decision.message}`
      : `allocated after ${decision.admission.waitsFor.length}`;
  };
  const tooMuch = (requested: number) =>
    `Deferred: Node didn't have enough resource: cpu, requested: ${requested}, used: 500, capacity: 1000`;
  const ofPod = (resources: Amounts): Pod => ({ ...cpu('100m'), spec: { ...cpu('100m').spec, resources } });

  it.each<[row: string, asked: Pod, decision: string]>([
    ['that has room is done', cpu('500m'), 'allocated after 0'],
    ['that has no room waits', cpu('501m'), tooMuch(501)],
    ['beyond the size of the node waits, too', cpu('8'), tooMuch(8000)],
    ['of a critical pod stops others for its room', cpu('900m', { priority: 2_000_000_000 }), 'allocated after 1'],
    ['of the pod as a whole that has room is done', ofPod({ requests: { cpu: '500m' } }), 'allocated after 0'],
    ['of the pod as a whole that has no room waits', ofPod({ requests: { cpu: '501m' } }), tooMuch(501)],
  ])('%s', (_, asked, decision) => {
    expect(decided(asked)).toBe(decision);
  });

  it('of the pod as a whole is infeasible while the gate is off', () => {
    expect(decided(ofPod({ limits: { cpu: '200m' } }), [], { ...context, resizesPods: false })).toBe(
      'Infeasible: InPlacePodLevelResourcesVerticalScaling is disabled',
    );
  });

  it.each<[row: string, asked: Partial<Container>, has: Partial<Container>, isInfeasible: boolean]>([
    ['memory of a container that swaps', memory('20Mi'), memory('10Mi'), true],
    ['memory of a container that would swap then', memory('20Mi'), memory('40Mi', '40Mi'), true],
    ['memory of a container that gets no swap', memory('30Mi', '30Mi'), memory('40Mi', '40Mi'), false],
    ['memory of a container that restarts for it', restarting('20Mi'), restarting('10Mi'), false],
    ['the limit of memory alone', memory('10Mi', '50Mi'), memory('10Mi', '40Mi'), false],
    ['the same memory in other words', memory('10240Ki'), memory('10Mi'), false],
  ])('of %s where pods share the swap', (_, asked, has, isInfeasible) => {
    const [then, now] = [asked, has].map((fields) => aPod({ containers: [aContainer('web', fields)] }));
    const swap = aNode({ limitsSwap: true, sharedSwap: 1_000_000 });
    const decide = (facts: ResizeContext['swap']) =>
      then && now && decideResize({ asked: then, has: now }, [], { ...context, swap: facts });
    expect(decide(swap)).toMatchObject(isInfeasible ? INFEASIBLE : { kind: 'allocated' });
    expect(decide(aNode({ limitsSwap: true }))).toMatchObject({ kind: 'allocated' });
  });

  it('waits with the words of any other check that refuses it', () => {
    const refuse = () => ({ reason: 'NodeShutdown', message: 'the node shuts down' });
    expect(decided(cpu('200m'), [], { ...context, admit: refuse })).toBe('Deferred: the node shuts down');
  });
});

describe('resizes that wait', () => {
  const queued = (name: string, fields: Partial<QueuedResize> = {}, since?: string): QueuedResize => ({
    asked: { ...cpu('300m', {}, name) },
    has: cpu('200m', {}, name),
    status: since
      ? { conditions: [{ type: 'PodResizePending', status: 'True', lastTransitionTime: since }] }
      : undefined,
    ...fields,
  });
  const guaranteed: Amounts = { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '1', memory: '1Mi' } };

  it('are tried in order: no increase, priority, Guaranteed, age of the wait', () => {
    const queue = [
      queued('new'),
      queued('late', {}, '2026-01-01T00:02:00Z'),
      queued('early', {}, '2026-01-01T00:01:00Z'),
      queued('guaranteed', {
        asked: aPod({ containers: [aContainer('web', { resources: guaranteed })] }, { uid: 'guaranteed' }),
      }),
      queued('urgent', { asked: cpu('300m', { priority: 5 }, 'urgent') }),
      queued('smaller', { asked: cpu('100m', {}, 'smaller') }),
    ];
    expect(inResizeOrder(queue).map(({ asked }) => asked.metadata.uid)).toEqual([
      ...['smaller', 'urgent', 'guaranteed', 'early', 'late', 'new'],
    ]);
  });
});

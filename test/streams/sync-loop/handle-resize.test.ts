import { describe, expect, it } from 'vitest';
import { admitPod } from '../../../src/model/admission/admit-pod.js';
import type { NodeFacts } from '../../../src/model/node/node-facts.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { handleResize } from '../../../src/streams/sync-loop/handle-resize.js';
import { aPod } from '../../support/a-pod.js';
import { brief, loopStage } from '../../support/loop-stage.js';
import { nodeFacts } from '../../support/node-facts.js';

const sized = (uid: string, cpu: string, generation = 1, spec: Partial<Pod['spec']> = {}): Pod => {
  const containers = [{ name: 'main', resources: { requests: { cpu } } }];
  const { metadata, ...rest } = aPod({ uid, name: uid, source: 'api', spec: { containers, ...spec } });
  return { ...rest, metadata: { ...metadata, generation } };
};

type Facts = Partial<Pick<NodeFacts, 'resizesPods' | 'limitsSwap' | 'sharedSwap'>> & { readonly ready?: boolean };

/** A node with two CPUs, and these pods, each with the version that it asks for. */
const stageOf = (pods: readonly (readonly [has: Pod, asked?: Pod])[], { ready = true, ...facts }: Facts = {}) => {
  const clock = { now: 0 };
  const stage = loopStage(
    { admit: admitPod(() => ({ ...nodeFacts, allocatable: { cpu: '2' } })), node: { ...nodeFacts, ...facts } },
    clock,
  );
  const { state } = stage;
  for (const [has, asked] of pods) {
    state.apply({ kind: 'pod-set', pod: has });
    state.workers.update({ type: 'create', pod: has, causes: [] }, 0);
    state.workers.start(has.metadata.uid, 0);
    if (asked) state.apply({ kind: 'pod-set', pod: asked });
  }
  if (ready) state.apply({ kind: 'source-ready', source: 'file' });
  const handle = handleResize(stage.context);
  return {
    ...stage,
    clock,
    give: () => brief(handle('pod_updated')),
    pendingOf: (uid: string) => state.value.resizes.pending.get(uid),
    cpuOf: (uid: string) => state.pods.get(uid)?.spec.containers[0]?.resources?.requests?.cpu,
  };
};

describe('a resize that is due', () => {
  it('is given to a pod if the node has room, with an event, and its worker is woken', () => {
    const stage = stageOf([[sized('a', '1'), sized('a', '2', 2)]]);
    expect(stage.give()).toEqual(['wake a']);
    expect([stage.cpuOf('a'), stage.pending('a')]).toEqual(['2', 'sync']);
    expect(stage.state.workers.record('a')?.pending?.pod).toBe(stage.state.pods.get('a'));
    expect(stage.events).toEqual([
      'Normal ResizeStarted Pod resize started: {"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}],"generation":2}',
    ]);
    expect(stage.records).toMatchObject([{ kind: 'resize', trigger: 'pod_updated', decision: 'allocated' }]);
    expect(stage.give()).toEqual([]);
  });

  it('waits without room: its worker is woken once, for the status, and not again for the same reason', () => {
    const stage = stageOf([[sized('a', '1'), sized('a', '3', 2)]]);
    expect(stage.give()).toEqual(['wake a']);
    const message = "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000";
    expect(stage.pendingOf('a')).toEqual({ reason: 'Deferred', message, generation: 2, triedAt: 0 });
    stage.clock.now = 180_000;
    expect(stage.give()).toEqual([]);
    expect(stage.observed).toEqual([]);
    expect(stage.pendingOf('a')?.triedAt).toBe(180_000);
    expect(stage.records).toMatchObject([{ kind: 'resize', decision: 'deferred', message }]);
    expect(stage.events).toEqual([]);
  });

  it('that makes room is tried before one that takes it', () => {
    const stage = stageOf([
      [sized('a', '1'), sized('a', '1500m', 2)],
      [sized('b', '1'), sized('b', '500m', 2)],
    ]);
    expect(stage.give()).toEqual(['wake b', 'wake a']);
    expect([stage.cpuOf('a'), stage.cpuOf('b')]).toEqual(['1500m', '500m']);
  });

  it('that has waited and fits is counted by what had it tried', () => {
    const stage = stageOf([[sized('a', '1'), sized('a', '1500m', 2)], [sized('b', '1')]]);
    stage.give();
    stage.state.apply({ kind: 'pod-removed', pod: sized('b', '1') });
    expect(stage.give()).toEqual(['wake a']);
    expect(stage.observed).toEqual(['deferredResizeAccepted pod_updated']);
  });

  it('that is infeasible is not tried again before its pod changes', () => {
    const ofPod = (generation: number) => sized('a', '1', generation, { resources: { limits: { cpu: '2' } } });
    const stage = stageOf([[sized('a', '1'), ofPod(2)]], { resizesPods: false });
    expect(stage.give()).toEqual(['wake a']);
    expect(stage.pendingOf('a')).toMatchObject({ reason: 'Infeasible', generation: 2 });
    stage.clock.now = 5;
    stage.give();
    expect(stage.pendingOf('a')?.triedAt).toBe(0);
    stage.state.apply({ kind: 'pod-set', pod: ofPod(3) });
    expect(stage.give()).toEqual(['wake a']);
    expect(stage.pendingOf('a')).toMatchObject({ generation: 3, triedAt: 5 });
    expect(stage.observed).toEqual(Array(2).fill('resizeInfeasible plr_feature_gate_off'));
  });

  it('of the memory of a container that swaps is infeasible', () => {
    const asking = (memory: string, generation: number): Pod => {
      const { spec, ...rest } = sized('a', '1', generation);
      return {
        ...rest,
        spec: { ...spec, containers: [{ ...spec.containers[0]!, resources: { requests: { memory } } }] },
      };
    };
    const pods = [[asking('10Mi', 1), asking('20Mi', 2)]] as const;
    const stages = [{ limitsSwap: true, sharedSwap: 1000 }, {}].map((facts) => stageOf(pods, facts));
    expect(stages.map((stage) => stage.give())).toEqual([['wake a'], ['wake a']]);
    expect(stages.map((stage) => stage.pendingOf('a')?.reason)).toEqual(['Infeasible', undefined]);
    expect(stages[0]?.observed).toEqual(['resizeInfeasible swap_limitation']);
  });

  it('of a critical pod stops another one for its room', () => {
    const critical = { priority: 2_000_000_000 };
    const stage = stageOf([[sized('a', '1', 1, critical), sized('a', '2', 2, critical)], [sized('b', '500m')]]);
    expect(stage.give()).toEqual(['cancel b', 'wake a']);
    expect(stage.pending('b')).toBe('kill');
    expect(stage.state.value.preemptions.waits.get('a')?.pods).toHaveLength(1);
  });

  it.each<[what: string, change: (stage: ReturnType<typeof stageOf>) => void]>([
    ['is stopped', ({ state }) => void state.workers.update({ type: 'kill', pod: sized('a', '1'), causes: [] }, 0)],
    ['has ended', ({ state }) => void state.apply({ kind: 'status', uid: 'a', status: { phase: 'Succeeded' } })],
  ])('is no matter for a pod that %s', (_, change) => {
    const stage = stageOf([[sized('a', '1'), sized('a', '2', 2)]]);
    change(stage);
    expect(stage.give()).toEqual([]);
    expect(stage.cpuOf('a')).toBe('1');
  });

  it('is not tried until every source is ready, since other pods may need the room', () => {
    const stage = stageOf([[sized('a', '1'), sized('a', '2', 2)]], { ready: false });
    expect(stage.give()).toEqual([]);
    stage.state.apply({ kind: 'source-ready', source: 'file' });
    expect(stage.give()).toEqual(['wake a']);
  });
});

import { describe, expect, it } from 'vitest';
import { computePodActions, type PodActionsInput } from '../../../src/model/pod-actions/compute-pod-actions.js';
import type { Pod, PodSpec } from '../../../src/model/pod/pod.js';
import type { PodActions } from '../../../src/model/pod-actions/pod-actions.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aPod, aRuntimePod, aSandbox, aStatus, exited } from '../pods.js';

/** The names of what happens, leaving out what does not. */
const summary = (actions: PodActions) => ({
  ...(actions.killPod && { killPod: true }),
  ...(actions.createSandbox && { createSandbox: actions.attempt }),
  ...(actions.ephemeralContainersToStart.length > 0 && { ephemeral: actions.ephemeralContainersToStart }),
  ...(actions.initContainersToStart.length > 0 && { init: actions.initContainersToStart }),
  ...(actions.containersToStart.length > 0 && { start: actions.containersToStart }),
  ...(actions.containersToKill.length > 0 && {
    kill: actions.containersToKill.map(({ name, reason, message }) => `${name} ${reason}: ${message}`),
  }),
  ...(actions.containersToReset.length > 0 && {
    reset: actions.containersToReset.map(({ id, kill }) => `${id}${kill ? ' after its kill' : ''}`),
  }),
});

const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const notReady = (attempt: number) =>
  aSandbox({ state: 'SANDBOX_NOTREADY', metadata: { name: 'p', namespace: 'default', uid: 'uid-1', attempt } });

describe('a sandbox must be created', () => {
  const two = [aContainer('a'), aContainer('b')];
  const init = { initContainers: [aContainer('i'), aContainer('j')] };

  it.each<
    [row: string, spec: Partial<PodSpec>, containers: RuntimeContainerStatus[], attempt: number, expected: object]
  >([
    [
      '1: Never, after the first attempt, with containers that have run',
      { restartPolicy: 'Never', containers: two },
      [exited('a', 1)],
      0,
      { killPod: true },
    ],
    [
      '1: Never, after the first attempt, when no container was ever created',
      { restartPolicy: 'Never', containers: two },
      [],
      0,
      { killPod: true, createSandbox: 1, start: ['a', 'b'] },
    ],
    [
      '2: OnFailure leaves out what has succeeded',
      { restartPolicy: 'OnFailure', containers: two },
      [exited('a', 0), exited('b', 1)],
      2,
      { killPod: true, createSandbox: 3, start: ['b'] },
    ],
    [
      '2: a container of its own policy OnFailure that has succeeded is left out of an Always pod',
      { restartPolicy: 'Always', containers: [aContainer('a', { restartPolicy: 'OnFailure' }), aContainer('b')] },
      [exited('a', 0), exited('b', 0)],
      0,
      { killPod: true, createSandbox: 1, start: ['b'] },
    ],
    [
      '2: a container of its own policy Always runs again in an OnFailure pod',
      { restartPolicy: 'OnFailure', containers: [aContainer('a', { restartPolicy: 'Always' })] },
      [exited('a', 0)],
      0,
      { killPod: true, createSandbox: 1, start: ['a'] },
    ],
    [
      '2: Always starts everything',
      { restartPolicy: 'Always', containers: two },
      [exited('a', 0), exited('b', 1)],
      0,
      { killPod: true, createSandbox: 1, start: ['a', 'b'] },
    ],
    [
      '3: everything has succeeded',
      { restartPolicy: 'OnFailure', containers: two },
      [exited('a', 0), exited('b', 0)],
      0,
      { killPod: true },
    ],
    [
      '4: init containers go first, and only the first one',
      { restartPolicy: 'Always', containers: two, ...init },
      [exited('i', 0), exited('j', 0), exited('a', 1)],
      0,
      { killPod: true, createSandbox: 1, init: ['i'] },
    ],
    [
      '5: without init containers the regular ones start',
      { containers: two },
      [],
      7,
      { killPod: true, createSandbox: 8, start: ['a', 'b'] },
    ],
    [
      '5: ephemeral containers wait for the next sync',
      { containers: two, ephemeralContainers: [aContainer('debug')] },
      [],
      0,
      { killPod: true, createSandbox: 1, start: ['a', 'b'] },
    ],
  ])('row %s', (_, spec, containers, attempt, expected) => {
    const actions = computePodActions({ pod: aPod(spec), status: aRuntimePod(containers, [notReady(attempt)]) });
    expect(summary(actions)).toEqual(expected);
  });

  it.each([
    ['Always', {}, { killPod: true, createSandbox: 0, start: ['a', 'b'] }],
    ['Never', {}, { killPod: true, createSandbox: 0, start: ['a', 'b'] }],
    ['Never', init, { killPod: true, createSandbox: 0, init: ['i'] }],
  ])('for the first time, restartPolicy %s: nothing holds it back', (restartPolicy, more, expected) => {
    const actions = computePodActions({
      pod: aPod({ restartPolicy, containers: two, ...more }),
      status: aRuntimePod([], []),
    });
    expect(summary(actions)).toEqual(expected);
  });

  it('runs containers of a Never pod again when no sandbox is left to show an earlier attempt', () => {
    const pod = aPod({ restartPolicy: 'Never', containers: two });
    const actions = computePodActions({ pod, status: aRuntimePod([exited('a', 1)], []) });
    expect(summary(actions)).toEqual({ killPod: true, createSandbox: 0, start: ['a', 'b'] });
  });

  it('names the sandbox that is replaced', () => {
    const actions = computePodActions({ pod: aPod(), status: aRuntimePod([], [notReady(0)]) });
    expect(actions).toMatchObject({ sandboxId: 's1', attempt: 1 });
  });
});

describe('the sandbox stays: one regular container beside another that runs', () => {
  const probes = (verdict: 'liveness' | 'startup'): Pick<PodActionsInput, 'probeResults'> => ({
    probeResults: {
      liveness: (id) => (verdict === 'liveness' && id === 'web-0' ? 'failure' : undefined),
      startup: (id) => (verdict === 'startup' && id === 'web-0' ? 'failure' : undefined),
    },
  });
  const changed = { hash: 'abc' };

  it.each<
    [
      row: string,
      policy: string,
      web: RuntimeContainerStatus[],
      input: Partial<PodActionsInput> & { metadata?: Partial<Pod['metadata']> },
      expected: object,
    ]
  >([
    ['missing', 'Never', [], {}, { start: ['web'] }],
    ['missing, deleting', 'Always', [], { metadata: deleting }, {}],
    ['created', 'Never', [aStatus('web', { state: 'created' })], {}, { start: ['web'] }],
    ['created, deleting', 'Always', [aStatus('web', { state: 'created' })], { metadata: deleting }, {}],
    [
      'unknown',
      'Never',
      [aStatus('web', { state: 'unknown' })],
      {},
      { kill: ['web Unknown: Container is in "unknown" state, try killing it before restart'] },
    ],
    [
      'unknown',
      'OnFailure',
      [aStatus('web', { state: 'unknown' })],
      {},
      { start: ['web'], kill: ['web Unknown: Container is in "unknown" state, try killing it before restart'] },
    ],
    ['unknown, deleting', 'Always', [aStatus('web', { state: 'unknown' })], { metadata: deleting }, {}],
    ['exited 0, Always', 'Always', [exited('web', 0)], {}, { start: ['web'] }],
    ['exited 1, Always', 'Always', [exited('web', 1)], {}, { start: ['web'] }],
    ['exited 0, OnFailure', 'OnFailure', [exited('web', 0)], {}, {}],
    ['exited 1, OnFailure', 'OnFailure', [exited('web', 1)], {}, { start: ['web'] }],
    ['exited 0, Never', 'Never', [exited('web', 0)], {}, {}],
    ['exited 1, Never', 'Never', [exited('web', 1)], {}, {}],
    ['exited 1, deleting', 'Always', [exited('web', 1)], { metadata: deleting }, {}],
    ['exited before, running now', 'Always', [aStatus('web', { id: 'web-1' }), exited('web', 1)], {}, {}],
    [
      'running before, exited now',
      'Always',
      [exited('web', 1, { id: 'web-1' }), aStatus('web')],
      {},
      { start: ['web'], kill: ['web Superseded: Stopping an earlier instance of container web that still runs'] },
    ],
    [
      'running twice',
      'Always',
      [aStatus('web', { id: 'web-1' }), aStatus('web')],
      {},
      { kill: ['web Superseded: Stopping an earlier instance of container web that still runs'] },
    ],
    [
      'running, hash differs, with any policy',
      'Never',
      [aStatus('web', changed)],
      {},
      { start: ['web'], kill: ['web DefinitionChanged: Container web definition changed, will be restarted'] },
    ],
    [
      'running, liveness failed, Always',
      'Always',
      [aStatus('web')],
      probes('liveness'),
      { start: ['web'], kill: ['web LivenessProbe: Container web failed liveness probe, will be restarted'] },
    ],
    [
      'running, liveness failed, OnFailure',
      'OnFailure',
      [aStatus('web')],
      probes('liveness'),
      { start: ['web'], kill: ['web LivenessProbe: Container web failed liveness probe, will be restarted'] },
    ],
    [
      'running, liveness failed, Never',
      'Never',
      [aStatus('web')],
      probes('liveness'),
      { kill: ['web LivenessProbe: Container web failed liveness probe'] },
    ],
    [
      'running, startup failed, Always',
      'Always',
      [aStatus('web')],
      probes('startup'),
      { start: ['web'], kill: ['web StartupProbe: Container web failed startup probe, will be restarted'] },
    ],
    [
      'running, startup failed, Never',
      'Never',
      [aStatus('web')],
      probes('startup'),
      { kill: ['web StartupProbe: Container web failed startup probe'] },
    ],
    [
      'running, hash differs and liveness failed: the definition counts',
      'Never',
      [aStatus('web', changed)],
      probes('liveness'),
      { start: ['web'], kill: ['web DefinitionChanged: Container web definition changed, will be restarted'] },
    ],
    ['running otherwise', 'Always', [aStatus('web')], {}, {}],
    ['running otherwise, deleting', 'Always', [aStatus('web')], { metadata: deleting }, {}],
  ])('%s (%s)', (_, restartPolicy, web, { metadata, ...input }, expected) => {
    const pod = aPod({ restartPolicy, containers: [aContainer('web'), aContainer('other')] }, metadata);
    const actions = computePodActions({ pod, status: aRuntimePod([...web, aStatus('other')]), ...input });
    expect(summary(actions)).toEqual(expected);
    expect(actions).toMatchObject({ sandboxId: 's1', attempt: 0 });
  });

  it('leaves exit-code rules out of what follows a failed probe', () => {
    const web = aContainer('web', {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [0] } }],
    });
    const pod = aPod({ containers: [web, aContainer('other')] });
    const actions = computePodActions({
      pod,
      status: aRuntimePod([aStatus('web'), aStatus('other')]),
      ...probes('liveness'),
    });
    expect(summary(actions)).toEqual({ kill: ['web LivenessProbe: Container web failed liveness probe'] });
  });
});

describe('the sandbox stays: the pod as a whole', () => {
  it.each<[row: string, spec: Partial<PodSpec>, containers: RuntimeContainerStatus[], expected: object]>([
    ['nothing runs and nothing starts', { restartPolicy: 'Never' }, [exited('web', 1)], { killPod: true }],
    [
      'only a sidecar is left, which must not keep the pod alive',
      { restartPolicy: 'Never', initContainers: [aContainer('side', { restartPolicy: 'Always' })] },
      [exited('web', 0), aStatus('side')],
      { killPod: true },
    ],
    [
      'a sidecar has ended too: it is not started for a pod that is done',
      { restartPolicy: 'Never', initContainers: [aContainer('side', { restartPolicy: 'Always' }), aContainer('i')] },
      [exited('web', 0), exited('i', 0), exited('side', 1)],
      { killPod: true },
    ],
    [
      'an ephemeral container that never ran starts, in any state of the others',
      {
        initContainers: [aContainer('i')],
        ephemeralContainers: [aContainer('debug'), aContainer('done')],
      },
      [exited('done', 1), aStatus('i')],
      { ephemeral: ['debug'] },
    ],
    ['init containers are not done: regular ones wait', { initContainers: [aContainer('i')] }, [], { init: ['i'] }],
    [
      'an init container failed for good',
      { restartPolicy: 'Never', initContainers: [aContainer('i')] },
      [exited('i', 3)],
      { killPod: true },
    ],
    ['init containers are done', { initContainers: [aContainer('i')] }, [exited('i', 0)], { start: ['web'] }],
    [
      'a sidecar that ended is started again beside the regular ones',
      { initContainers: [aContainer('side', { restartPolicy: 'Always' })] },
      [aStatus('web'), exited('side', 0)],
      { init: ['side'] },
    ],
  ])('%s', (_, spec, containers, expected) => {
    expect(summary(computePodActions({ pod: aPod(spec), status: aRuntimePod(containers) }))).toEqual(expected);
  });
});

describe('all containers are to be restarted', () => {
  const onExit = (code: number) => ({
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [code] } }],
  });

  it('resets regular before init ones, those that asked for it last, every instance, no ephemeral one', () => {
    const pod = aPod({
      initContainers: [aContainer('i', onExit(7)), aContainer('j')],
      containers: [aContainer('a', onExit(42)), aContainer('b')],
      ephemeralContainers: [aContainer('debug')],
    });
    const status = aRuntimePod([
      exited('a', 42, { id: 'a-1' }),
      aStatus('b', { id: 'b-1' }),
      aStatus('debug'),
      exited('a', 1, { id: 'a-0' }),
      exited('b', 0, { id: 'b-0' }),
      exited('j', 0),
      exited('i', 7),
    ]);
    expect(summary(computePodActions({ pod, status, restartAll: true }))).toEqual({
      reset: ['a-0', 'b-1 after its kill', 'b-0', 'j-0', 'a-1', 'i-0'],
    });
  });

  it('does so in any state of the sandbox', () => {
    const actions = computePodActions({
      pod: aPod(),
      status: aRuntimePod([aStatus('web')], [notReady(0)]),
      restartAll: true,
    });
    expect(summary(actions)).toEqual({ reset: ['web-0 after its kill'] });
  });
});

describe('reasons', () => {
  const because = (input: PodActionsInput) =>
    computePodActions(input).reasons.map(({ action, because }) => `${action}: ${because}`);

  it('say which policy restarts a container', () => {
    expect(because({ pod: aPod({ restartPolicy: 'Always' }), status: aRuntimePod([exited('web', 1)]) })).toEqual([
      'start: container web is not running: it exited with code 1 and restartPolicy Always restarts it',
    ]);
  });

  it('say why the sandbox is replaced', () => {
    expect(because({ pod: aPod(), status: aRuntimePod([], [notReady(0)]) })).toEqual([
      'kill-pod: sandbox s1 is not ready',
      'create-sandbox: sandbox s1 is not ready',
      'start: container web starts in a new sandbox',
    ]);
  });

  it('say nothing of killing a pod that has nothing to kill', () => {
    expect(because({ pod: aPod(), status: aRuntimePod([], []) })).toEqual([
      'create-sandbox: the pod has no sandbox yet',
      'start: container web starts in a new sandbox',
    ]);
  });

  it('say why a pod that is done is taken down', () => {
    expect(because({ pod: aPod({ restartPolicy: 'Never' }), status: aRuntimePod([exited('web', 1)]) })).toEqual([
      'keep: container web stays ended: it exited with code 1 and restartPolicy Never leaves it',
      'kill-pod: no container runs and none is to be started',
    ]);
  });

  it('put a kill before the start that follows it', () => {
    expect(because({ pod: aPod(), status: aRuntimePod([aStatus('web', { hash: 'abc' })]) })).toEqual([
      'kill: container web is killed: its image or name changed in the spec',
      'start: container web is started again after its kill',
    ]);
  });

  it('name the init container that the others wait for', () => {
    const pod = aPod({ initContainers: [aContainer('i')] });
    expect(because({ pod, status: aRuntimePod([aStatus('i')]) })).toEqual([
      'keep: init container i stays: it is running; the containers after it wait for its end',
    ]);
  });

  it('promise no start that a pod on its way out will not get', () => {
    const initContainers = [aContainer('side', { restartPolicy: 'Always' }), aContainer('i')];
    const pod = aPod({ restartPolicy: 'Never', initContainers });
    const status = aRuntimePod([exited('web', 0), exited('i', 0), exited('side', 1)]);
    const actions = computePodActions({ pod, status }).reasons.map(({ action }) => action);
    expect(actions).toEqual(['keep', 'keep', 'kill-pod']);
  });
});

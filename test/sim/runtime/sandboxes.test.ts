import { describe, expect, it } from 'vitest';
import { POD_UID } from '../../../src/model/cri/labels.js';
import { runtimeStage, sandboxConfig } from './runtime-stage.js';

describe('sandboxes of the simulated runtime', () => {
  it('come up with an address of their own, and return all that they were given', () => {
    const { sandbox, answer, simulated } = runtimeStage();
    const ids = [sandbox(), sandbox({ uid: 'uid-2', name: 'db', attempt: 3 })];
    const statuses = ids.map((podSandboxId) => answer(simulated.runtime.podSandboxStatus({ podSandboxId })).status!);
    expect(new Set(statuses.map(({ network }) => network?.ip)).size).toBe(2);
    expect(statuses[1]).toMatchObject({
      id: ids[1],
      metadata: { name: 'db', namespace: 'default', uid: 'uid-2', attempt: 3 },
      state: 'SANDBOX_READY',
      labels: { app: 'db', [POD_UID]: 'uid-2' },
      annotations: { note: 'kept' },
      linux: { namespaces: { options: { network: 'POD', pid: 'CONTAINER' } } },
    });
    expect(statuses[1]!.createdAt > statuses[0]!.createdAt).toBe(true);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
  });

  it('have no address of their own on the network of the node', () => {
    const { sandbox, answer, simulated } = runtimeStage();
    const podSandboxId = sandbox({ isOnNodeNetwork: true });
    expect(answer(simulated.runtime.podSandboxStatus({ podSandboxId })).status?.network?.ip).toBe('');
  });

  it('have a name that no other can have, until they are removed', () => {
    const { sandbox, answer, simulated } = runtimeStage();
    const podSandboxId = sandbox();
    expect(() => sandbox()).toThrow(/name "web_default_uid-1_0" is reserved/);
    answer(simulated.runtime.stopPodSandbox({ podSandboxId }));
    expect(() => sandbox()).toThrow(/is reserved/);
    sandbox({ attempt: 1 });
    answer(simulated.runtime.removePodSandbox({ podSandboxId }));
    expect(sandbox()).not.toBe(podSandboxId);
  });

  it('take their name when the call arrives, not when they are made', () => {
    const { ask, simulated, scheduler } = runtimeStage({ sandboxMs: { min: 100, max: 100 } });
    const first = ask(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    const second = ask(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    scheduler.runUntil(50);
    expect(second.heard()).toMatchObject({ code: 'unknown', at: 2 });
    expect(simulated.sandboxes()).toEqual([]);
    scheduler.runUntil(200);
    expect(first.heard()).toMatchObject({ at: 102 });
    expect(simulated.sandboxes()).toHaveLength(1);
  });

  it('come up even when the caller has given up after its four minutes', () => {
    const { ask, simulated, scheduler } = runtimeStage({ sandboxMs: { min: 500_000, max: 500_000 } });
    const { heard } = ask(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    scheduler.runUntil(300_000);
    expect(heard()).toMatchObject({ code: 'deadline-exceeded', at: 240_000 });
    scheduler.runUntil(600_000);
    expect(simulated.sandboxes()).toHaveLength(1);
  });

  it.each([
    [1, 0],
    [0, 1],
  ])('are taken back, with the chance %i, when the caller has gone', (breaksOffGivenUp, left) => {
    const { ask, answer, simulated, scheduler } = runtimeStage({
      ...{ breaksOffGivenUp, sandboxMs: { min: 500, max: 500 } },
    });
    const { subscription } = ask(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    scheduler.runUntil(100);
    subscription.unsubscribe();
    scheduler.runUntil(2000);
    expect(simulated.sandboxes()).toHaveLength(left);
    const again = () => answer(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    if (left === 0) again();
    else expect(again).toThrow(/is reserved/);
    expect(simulated.sandboxes()).toHaveLength(1);
  });

  it('take everything in them along when they stop, at once', () => {
    const { sandbox, run, answer, simulated, told } = runtimeStage({
      containers: { main: [{ onStop: { kind: 'hangs' } }] },
    });
    const podSandboxId = sandbox();
    const containerId = run(podSandboxId);
    const before = told.length;
    answer(simulated.runtime.stopPodSandbox({ podSandboxId }));
    expect(told.slice(before).map(({ kind }) => kind)).toEqual(['container-exited', 'sandbox-stopped']);
    const { status } = answer(simulated.runtime.containerStatus({ containerId }));
    expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137, reason: 'Error' });
    const sandboxStatus = answer(simulated.runtime.podSandboxStatus({ podSandboxId })).status;
    expect(sandboxStatus).toMatchObject({ state: 'SANDBOX_NOTREADY', network: { ip: '' } });
  });

  it('are stopped by force and with everything in them when they are removed; a missing one is fine', () => {
    const { sandbox, run, answer, simulated, told } = runtimeStage();
    const podSandboxId = sandbox();
    run(podSandboxId);
    const before = told.length;
    answer(simulated.runtime.removePodSandbox({ podSandboxId }));
    answer(simulated.runtime.removePodSandbox({ podSandboxId }));
    answer(simulated.runtime.stopPodSandbox({ podSandboxId }));
    expect(told.slice(before).map(({ kind }) => kind)).toEqual([
      'container-exited',
      'sandbox-stopped',
      'container-removed',
      'sandbox-removed',
    ]);
    expect(() => answer(simulated.runtime.podSandboxStatus({ podSandboxId }))).toThrow(/not found/);
  });

  it('are listed by id, state and labels', () => {
    const { sandbox, answer, simulated } = runtimeStage();
    const [one, two, three] = [sandbox(), sandbox({ uid: 'uid-2', name: 'db' }), sandbox({ attempt: 1 })];
    answer(simulated.runtime.stopPodSandbox({ podSandboxId: one }));
    const listed = (filter: object) =>
      answer(simulated.runtime.listPodSandbox({ filter })).items.map(({ id }) => [one, two, three].indexOf(id));
    expect(listed({})).toEqual([0, 1, 2]);
    expect(listed({ id: two })).toEqual([1]);
    expect(listed({ state: { state: 'SANDBOX_READY' } })).toEqual([1, 2]);
    expect(listed({ labelSelector: { [POD_UID]: 'uid-1' } })).toEqual([0, 2]);
    expect(listed({ labelSelector: { [POD_UID]: 'uid-1', app: 'db' } })).toEqual([]);
    expect(listed({ labelSelector: { app: 'db' }, state: { state: 'SANDBOX_NOTREADY' } })).toEqual([]);
    expect(listed({ labelSelector: { [POD_UID]: 'nobody' } })).toEqual([]);
  });

  it('are answered with the same objects until something changes', () => {
    const { sandbox, run, answer, simulated } = runtimeStage();
    const podSandboxId = sandbox();
    const containerId = run(podSandboxId);
    const look = () => [
      answer(simulated.runtime.listPodSandbox({})).items[0],
      answer(simulated.runtime.podSandboxStatus({ podSandboxId })).status,
      answer(simulated.runtime.listContainers({})).containers[0],
      answer(simulated.runtime.containerStatus({ containerId })).status,
    ];
    const before = look();
    look().forEach((one, index) => expect(one).toBe(before[index]));
    answer(simulated.runtime.stopPodSandbox({ podSandboxId }));
    look().forEach((one, index) => expect(one).not.toBe(before[index]));
    expect(before[3]).toMatchObject({ state: 'CONTAINER_RUNNING' });
  });
});

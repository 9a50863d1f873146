import { describe, expect, it } from 'vitest';
import type { ContainerEventResponse } from '../../../src/generated/runtime/v1/api.js';
import type { NodeBehaviours } from '../../../src/tools/sim/world/behaviour.js';
import { runtimeStage, sandboxConfig } from './runtime-stage.js';

const listening = (behaviours: NodeBehaviours = {}, seed?: number) => {
  const stage = runtimeStage(behaviours, seed);
  const events: ContainerEventResponse[] = [];
  let error: unknown;
  const subscription = stage.simulated.runtime
    .containerEvents()
    .subscribe({ next: (event) => events.push(event), error: (caught: unknown) => (error = caught) });
  stage.scheduler.runUntil(10);
  const types = () => events.map(({ containerEventType }) => containerEventType.split('_')[1]);
  return { ...stage, events, types, error: () => error, subscription };
};

describe('container events of the simulated runtime', () => {
  it('report sandboxes and containers, with the state of the whole pod', () => {
    const { sandbox, run, answer, simulated, events, types, scheduler } = listening();
    const podSandboxId = sandbox();
    const containerId = run(podSandboxId);
    answer(simulated.runtime.stopContainer({ containerId, timeout: 1n }));
    answer(simulated.runtime.removeContainer({ containerId }));
    answer(simulated.runtime.stopPodSandbox({ podSandboxId }));
    answer(simulated.runtime.removePodSandbox({ podSandboxId }));
    scheduler.runUntil(1000);
    expect(types()).toEqual(['CREATED', 'STARTED', 'CREATED', 'STARTED', 'STOPPED', 'DELETED', 'STOPPED', 'DELETED']);
    expect(events.map((event) => event.containerId === podSandboxId)).toEqual([
      ...[true, true, false, false, false, false, true, true],
    ]);
    expect(events[3]).toMatchObject({
      podSandboxStatus: { metadata: { uid: 'uid-1' }, state: 'SANDBOX_READY' },
      containersStatuses: [{ id: containerId, state: 'CONTAINER_RUNNING' }],
    });
    expect(events.at(-1)?.podSandboxStatus).toBeUndefined();
  });

  it.each([1, 2, 3])('never overtake each other, however late they are (seed %i)', (seed) => {
    const behaviours = { eventMs: { min: 0, max: 100 }, containers: { '*': [{ exitsAfterMs: 1 }] } };
    const { sandbox, run, events, scheduler } = listening(behaviours, seed);
    const podSandboxId = sandbox();
    for (let index = 0; index < 20; index++) run(podSandboxId, { name: `c${index}` });
    scheduler.runUntil(1000);
    const created = events.flatMap((event) =>
      event.containerEventType === 'CONTAINER_CREATED_EVENT' ? [event.containersStatuses.length] : [],
    );
    expect(created).toEqual(Array.from({ length: 21 }, (_, index) => index));
  });

  it('are not there where the runtime has none', () => {
    expect(listening({ tellsNoEvents: true }).error()).toMatchObject({ code: 'unimplemented' });
  });

  it('are not sent to a subscriber that has left', () => {
    const { subscription, sandbox, events, scheduler } = listening();
    subscription.unsubscribe();
    sandbox();
    scheduler.runUntil(1000);
    expect(events).toEqual([]);
  });
});

describe('a restart of the simulated runtime', () => {
  it('breaks calls and the stream of events, refuses calls for a while, and lets containers live and end', () => {
    const stage = listening({
      containers: { short: [{ exitsAfterMs: 50, exitCode: 4 }], long: [{}], slow: [{ startsAfterMs: 30 }] },
      images: { '*': { isPresent: true }, big: { pullMs: 60_000, isPresent: false } },
    });
    const { sandbox, run, create, ask, answer, simulated, scheduler, error, told } = stage;
    const podSandboxId = sandbox();
    const short = run(podSandboxId, { name: 'short' });
    run(podSandboxId, { name: 'long' });
    const slow = create(podSandboxId, { name: 'slow' });
    const start = ask(simulated.runtime.startContainer({ containerId: slow }));
    const pull = ask(simulated.images.pullImage({ image: { image: 'big' } }));
    scheduler.runUntil(scheduler.now() + 5);
    const wentDownAt = scheduler.now();
    simulated.restart(1000);
    simulated.restart(5);
    expect(simulated.isUp()).toBe(false);
    for (const { heard } of [start, pull]) expect(heard()).toMatchObject({ code: 'unavailable', at: wentDownAt });
    expect(error()).toMatchObject({ code: 'unavailable' });
    expect(() => answer(simulated.runtime.listContainers({}))).toThrow(/connection refused/);
    scheduler.runUntil(wentDownAt + 1000);

    expect(simulated.liveContainers().map(({ container }) => container)).toEqual(['long']);
    expect(answer(simulated.runtime.containerStatus({ containerId: short })).status).toMatchObject({ exitCode: 4 });
    // What was about to happen never did, and can be asked for again.
    answer(simulated.runtime.startContainer({ containerId: slow }));
    scheduler.runUntil(wentDownAt + 100_000);
    expect(told.flatMap(({ kind, at }) => (/runtime|pulled/.test(kind) ? [`${at - wentDownAt} ${kind}`] : []))).toEqual(
      ['0 runtime-stopped', '1000 runtime-started'],
    );
  });

  it('sets names free that were only reserved', () => {
    const { ask, answer, simulated, scheduler } = runtimeStage({ sandboxMs: { min: 500, max: 500 } });
    ask(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    scheduler.runUntil(10);
    simulated.restart(10);
    scheduler.runUntil(2000);
    expect(simulated.sandboxes()).toEqual([]);
    answer(simulated.runtime.runPodSandbox({ config: sandboxConfig() }));
    expect(simulated.sandboxes()).toHaveLength(1);
  });

  it('forgets the container that it was about to kill', () => {
    const { sandbox, run, ask, simulated, scheduler } = runtimeStage({
      containers: { main: [{ onStop: { kind: 'hangs' } }] },
    });
    const containerId = run(sandbox());
    ask(simulated.runtime.stopContainer({ containerId, timeout: 5n }));
    scheduler.runUntil(1000);
    simulated.restart(100);
    scheduler.runUntil(100_000);
    expect(simulated.liveContainers()).toHaveLength(1);
  });
});

describe('the node of the simulated runtime', () => {
  it('names what it makes by the clock of the node, even when that is set back', () => {
    const { sandbox, clock, answer, simulated } = runtimeStage();
    clock.jump(3_600_000);
    const first = sandbox();
    clock.jump(-1_800_000);
    const second = sandbox({ attempt: 1 });
    const created = (podSandboxId: string) =>
      answer(simulated.runtime.podSandboxStatus({ podSandboxId })).status!.createdAt;
    expect(created(first) / 3_600_000_000_000n).toBe(1n);
    expect(created(second) < created(first)).toBe(true);
  });

  it('makes no two things at the same nanosecond', () => {
    const { sandbox, ask, simulated, scheduler } = runtimeStage();
    const podSandboxId = sandbox();
    const configs = Array.from({ length: 50 }, (_, attempt) => ({
      metadata: { name: 'main', attempt },
      image: { image: 'nginx' },
    }));
    for (const config of configs) ask(simulated.runtime.createContainer({ podSandboxId, config }));
    scheduler.runUntil(scheduler.now() + 10);
    const list = ask(simulated.runtime.listContainers({}));
    scheduler.runUntil(scheduler.now() + 10);
    const heard = list.heard();
    const times =
      heard !== 'nothing yet' && 'value' in heard ? heard.value.containers.map(({ createdAt }) => createdAt) : [];
    expect(times).toHaveLength(50);
    expect(times.every((time, index) => index === 0 || time > times[index - 1]!)).toBe(true);
  });

  it('says that it is ready, and not how it would like its cgroups', () => {
    const { answer, simulated } = runtimeStage();
    expect(answer(simulated.runtime.version({}))).toMatchObject({ runtimeName: 'simulated', runtimeApiVersion: 'v1' });
    const conditions = answer(simulated.runtime.status({ verbose: true })).status?.conditions;
    expect(conditions?.map(({ type, status }) => [type, status])).toEqual([
      ['RuntimeReady', true],
      ['NetworkReady', true],
    ]);
    expect(() => answer(simulated.runtime.runtimeConfig({}))).toThrow(/not implemented/);
  });
});

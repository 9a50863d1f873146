import { describe, expect, it } from 'vitest';
import type { NodeBehaviours } from '../../../src/tools/sim/world/behaviour.js';
import type { RuntimeLoss } from '../../../src/tools/sim/runtime/power-loss.js';
import { type RuntimeStage, runtimeStage } from './runtime-stage.js';

const HOUR = 3_600_000;

/** The machine is off for an hour; the stage before has run until 10 s. */
const afterBoot = (
  prepare: (stage: RuntimeStage) => void,
  { forgetsMs = 0, behaviours, newShow }: Partial<RuntimeLoss> & { readonly behaviours?: NodeBehaviours } = {},
): RuntimeStage => {
  const stage = runtimeStage(behaviours);
  prepare(stage);
  stage.scheduler.runUntil(10_000);
  const boot = stage.simulated.losePower({ forgetsMs, ...(newShow && { newShow }) });
  stage.scheduler.runUntil(10_000 + HOUR);
  boot();
  return stage;
};
const statusOf = ({ answer, simulated }: RuntimeStage, name = 'main') => {
  const container = simulated.containers().find((one) => one.container === name)!;
  return answer(simulated.runtime.containerStatus({ containerId: container.containerId })).status!;
};
const toldOf = ({ told }: RuntimeStage) => told.map(({ kind, at }) => `${kind} ${at}`);

describe('the runtime after a loss of power', () => {
  it('shows a container that ran as ended for an unknown reason, at the boot', () => {
    const stage = afterBoot(({ sandbox, run }) => void run(sandbox()));
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 255, reason: 'Unknown', message: '' });
    expect(statusOf(stage).finishedAt).toBe(BigInt(10_000 + HOUR) * 1_000_000n);
    expect(stage.simulated.liveContainers()).toEqual([]);
    expect(toldOf(stage)).toContain('container-exited 10000');
  });

  it('shows an end that was recorded, and does not end the container a second time', () => {
    const behaviours = { containers: { '*': [{ exitsAfterMs: 2_000, exitCode: 3 }] } };
    const stage = afterBoot(({ sandbox, run }) => void run(sandbox()), { behaviours, forgetsMs: 5_000 });
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 3, reason: 'Error' });
    expect(toldOf(stage).filter((line) => line.startsWith('container-exited'))).toEqual(['container-exited 2005']);
  });

  it('forgets an end that it has recorded a moment before', () => {
    const behaviours = { containers: { '*': [{ exitsAfterMs: 9_000 }] } };
    const stage = afterBoot(({ sandbox, run }) => void run(sandbox()), { behaviours, forgetsMs: 5_000 });
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 255, reason: 'Unknown' });
  });

  it('forgets a start that it has recorded a moment before, with its end', () => {
    const behaviours = { containers: { '*': [{ exitsAfterMs: 1_000 }] } };
    const prepare = ({ sandbox, run, scheduler }: RuntimeStage) => {
      const id = sandbox();
      scheduler.runUntil(8_000);
      run(id);
    };
    const stage = afterBoot(prepare, { behaviours, forgetsMs: 5_000 });
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_CREATED', startedAt: 0n, finishedAt: 0n, exitCode: 0 });
    expect(toldOf(stage)).toContain('container-start-lost 10000');
  });

  it('shows a new container whose status is lost in an unknown state, until it is stopped or removed', () => {
    const behaviours = { containers: { '*': [{ exitsAfterMs: 1_000 }] } };
    const prepare = ({ sandbox, create, run, scheduler }: RuntimeStage) => {
      const id = sandbox();
      run(id, { name: 'old' });
      scheduler.runUntil(8_000);
      create(id, { name: 'made' });
      run(id);
    };
    const stage = afterBoot(prepare, { behaviours, forgetsMs: 5_000, newShow: 'unknown' });
    expect(statusOf(stage, 'old')).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 0 });
    const lost = { createdAt: 0n, startedAt: 0n, finishedAt: 0n, exitCode: 255, reason: 'Unknown' };
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_UNKNOWN', ...lost });
    expect(statusOf(stage, 'made')).toMatchObject({ state: 'CONTAINER_UNKNOWN', ...lost });
    stage.answer(stage.simulated.runtime.stopContainer({ containerId: statusOf(stage).id, timeout: 2n }));
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_EXITED', createdAt: 0n, exitCode: 255 });
    stage.answer(stage.simulated.runtime.removeContainer({ containerId: statusOf(stage, 'made').id }));
    expect(stage.simulated.containers().map(({ container }) => container)).toEqual(['old', 'main']);
    expect(toldOf(stage).filter((line) => line.startsWith('container-status-lost'))).toHaveLength(2);
  });

  it('has forgotten a new container whose status is lost, and frees its name', () => {
    const prepare = ({ sandbox, run, scheduler }: RuntimeStage) => {
      const id = sandbox();
      run(id, { name: 'old' });
      scheduler.runUntil(8_000);
      run(id);
    };
    const stage = afterBoot(prepare, { forgetsMs: 5_000, newShow: 'gone' });
    expect(stage.simulated.containers().map(({ container }) => container)).toEqual(['old']);
    expect(toldOf(stage)).toContain('container-removed 10000');
    expect(() => stage.create(stage.simulated.sandboxes()[0]!.sandboxId)).not.toThrow();
  });

  it('shows a container that was never started as created, also while it was being started', () => {
    const behaviours = { containers: { '*': [{ startsAfterMs: 20_000 }] } };
    const prepare = ({ sandbox, create, ask, simulated }: RuntimeStage) => {
      const id = sandbox();
      create(id, { name: 'made' });
      ask(simulated.runtime.startContainer({ containerId: create(id) }));
    };
    const stage = afterBoot(prepare, { behaviours });
    stage.scheduler.runUntil(2 * HOUR);
    expect(statusOf(stage, 'made')).toMatchObject({ state: 'CONTAINER_CREATED' });
    expect(statusOf(stage)).toMatchObject({ state: 'CONTAINER_CREATED' });
  });

  it('has no ready sandbox, and frees the name of one that was being made', () => {
    const behaviours = { sandboxMs: { min: 60_000, max: 60_000 } };
    const stage = afterBoot(
      ({ ask, simulated }) =>
        void ask(simulated.runtime.runPodSandbox({ config: { metadata: { uid: 'u', name: 'n', namespace: 's' } } })),
      { behaviours },
    );
    expect(stage.simulated.sandboxes()).toEqual([]);
    expect(
      stage.answer(
        stage.simulated.runtime.runPodSandbox({ config: { metadata: { uid: 'u', name: 'n', namespace: 's' } } }),
      ).podSandboxId,
    ).not.toBe('');
    const other = afterBoot(({ sandbox }) => void sandbox());
    expect(other.simulated.sandboxes().map(({ isReady }) => isReady)).toEqual([false]);
    expect(toldOf(other)).toContain('sandbox-stopped 10000');
  });

  it('is away until the boot, also if it was restarting', () => {
    const stage = runtimeStage();
    stage.simulated.restart(1_000);
    const boot = stage.simulated.losePower({ forgetsMs: 0 });
    stage.scheduler.runUntil(5_000);
    expect(stage.simulated.isUp()).toBe(false);
    boot();
    expect(stage.simulated.isUp()).toBe(true);
    expect(toldOf(stage)).toEqual(['runtime-stopped 0', 'runtime-started 5000']);
  });
});

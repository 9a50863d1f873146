import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defer, EMPTY, firstValueFrom, lastValueFrom, type Observable, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logind } from '../../../../src/host/logind/logind.js';
import { monotonicScheduler } from '../../../../src/host/monotonic-scheduler.js';
import type { ShutdownInhibitor } from '../../../../src/streams/ports/shutdown-inhibitor.js';
import { noShutdownStates } from '../../../../src/streams/ports/shutdown-states.js';
import { shutdownManager } from '../../../../src/streams/shutdown/shutdown-manager.js';
import { eventually } from '../../../embedded/eventually.js';
import { killProcess } from '../../../support/kill-process.js';
import { sourceBundle } from '../../../support/source-bundle.js';
import { aPod } from '../../../unit/pods.js';
import { type BusStage, busStage, lackingForBus } from './bus-stage.js';

const LOCK = 'lock shutdown|kubelet|Kubelet needs time to handle node shutdown|delay';
const RELOAD = 'reload systemd-logind.service all 1';

describe.runIf(lackingForBus.length === 0 || process.env.CI === 'true')('the shutdown of a machine over a bus', () => {
  let stage: BusStage;
  let inhibitor: ShutdownInhibitor;
  let subscriptions: Subscription[];
  beforeEach(async () => {
    stage = await busStage();
    inhibitor = logind(stage);
    subscriptions = [];
  });
  afterEach(async () => {
    for (const subscription of subscriptions) subscription.unsubscribe();
    try {
      await eventually('no program of the adapter is left', () => stage.programs().length === 0);
    } finally {
      await stage.end();
    }
  });

  /** What an endless Observable has emitted, and its error. */
  const following = <T>(
    source$: Observable<T>,
  ): { readonly values: readonly T[]; readonly errors: readonly string[] } => {
    const values: T[] = [];
    const errors: string[] = [];
    const error = (failure: Error): number => errors.push(failure.message);
    subscriptions.push(source$.subscribe({ next: (value) => void values.push(value), error }));
    return { values, errors };
  };
  const done = (source$: Observable<unknown>): Promise<unknown> => lastValueFrom(source$, { defaultValue: undefined });
  const pidOf = async (program: string): Promise<number> =>
    (await eventually(program, () => stage.programs().find(({ command }) => command.startsWith(program)))).pid;

  it('the longest delay is read in milliseconds', async () => {
    expect(await firstValueFrom(inhibitor.maxDelayMs())).toBe(5_000);
    stage.command('delay 1500');
    await eventually('the new delay', async () => (await firstValueFrom(inhibitor.maxDelayMs())) === 1.5);
  });

  it('the longest delay is set by a file of settings, which logind reads again', async () => {
    await done(inhibitor.setMaxDelay(42));
    const file = join(stage.settingsDirectory, '99-kubelet.conf');
    expect(readFileSync(file, 'utf8')).toBe(
      '# Written by the kubelet: a shutdown waits until it has stopped its pods.\n[Login]\nInhibitDelayMaxSec=42\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o644);
    await stage.prints(RELOAD);
    expect(await firstValueFrom(inhibitor.maxDelayMs())).toBe(42_000);
  });

  it('the folder of the settings is made', async () => {
    const settingsDirectory = join(stage.folder, 'new', 'logind.conf.d');
    await done(logind({ ...stage, settingsDirectory }).setMaxDelay(1));
    expect(statSync(settingsDirectory).mode & 0o777).toBe(0o755);
  });

  it('a lock is held until it is released', async () => {
    const lock = await firstValueFrom(inhibitor.takeLock());
    // The line comes by another pipe than the lock.
    await stage.prints(LOCK);
    expect(stage.said.filter((line) => line.startsWith('lock'))).toEqual([LOCK]);
    expect(stage.said).not.toContain('released');
    inhibitor.releaseLock(lock);
    await stage.prints('released');
    inhibitor.releaseLock(lock);
  });

  it('two locks are held and released each by itself', async () => {
    const first = await firstValueFrom(inhibitor.takeLock());
    const second = await firstValueFrom(inhibitor.takeLock());
    inhibitor.releaseLock(first);
    await stage.prints('released');
    expect(stage.said.filter((line) => line === 'released')).toHaveLength(1);
    inhibitor.releaseLock(second);
    await stage.prints('released', 2);
  });

  it('a lock that logind refuses is an error with its reason', async () => {
    stage.command('refuse');
    await expect(done(inhibitor.takeLock())).rejects.toThrow(/^logind: .*The operation is in progress already/);
  });

  it('a lock that is unsubscribed before it is held leaves no process', async () => {
    inhibitor.takeLock().subscribe().unsubscribe();
    await eventually('the end of systemd-inhibit', () => stage.programs().length === 0);
  });

  it('the signals of a shutdown are received in order, after the watch has begun', async () => {
    const { values, errors } = following(inhibitor.watch());
    await eventually('the watch', () => values.length === 1);
    for (const line of ['signal 1', 'signal 0', 'signal 1']) stage.command(line);
    await eventually('three signals', () => values.length === 4);
    expect([values, errors]).toEqual([['watching', 'shutdown', 'cancelled', 'shutdown'], []]);
  });

  it('a bus that closes ends the watch with an error', async () => {
    const { values, errors } = following(inhibitor.watch());
    await eventually('the watch', () => values.length === 1);
    await stage.endBus();
    await eventually('the error', () => errors.length === 1);
    expect(errors[0]).toMatch(/^logind: /);
  });

  it('a lock that ends without a release ends the watch with an error', async () => {
    const { values, errors } = following(inhibitor.watch());
    await eventually('the watch', () => values.length === 1);
    await firstValueFrom(inhibitor.takeLock());
    killProcess(await pidOf('systemd-inhibit'));
    await eventually('the error', () => errors.length === 1);
    expect(errors).toEqual(['logind: systemd-inhibit has ended, and with it the lock']);
    await stage.prints('released');
  });

  it('a lock that is released does not end the watch', async () => {
    const { values, errors } = following(inhibitor.watch());
    await eventually('the watch', () => values.length === 1);
    inhibitor.releaseLock(await firstValueFrom(inhibitor.takeLock()));
    await stage.prints('released');
    stage.command('signal 1');
    await eventually('the signal', () => values.length === 2);
    expect(errors).toEqual([]);
  });

  it('an agent that is killed leaves neither a lock nor a watch', async () => {
    const script = await sourceBundle(stage.folder, 'test/edges/host/logind/hold-lock.ts');
    const agent: ChildProcess = spawn(process.execPath, [script, stage.settingsDirectory], {
      env: stage.env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await stage.prints(LOCK);
    await pidOf('busctl');
    agent.kill('SIGKILL');
    await stage.prints('released');
    await eventually('the end of all programs', () => stage.programs().length === 0);
  });

  it('an interrupt to the group of the agent, as a terminal sends it, ends no lock', async () => {
    const lock = await firstValueFrom(inhibitor.takeLock());
    const groupOf = (pid: number): string =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[2] ?? '';
    expect(groupOf(await pidOf('systemd-inhibit'))).not.toBe(groupOf(process.pid));
    inhibitor.releaseLock(lock);
  });

  it('without a bus all calls are errors', async () => {
    const gone = logind({ ...stage, env: { ...stage.env, DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/no/such/bus' } });
    for (const call$ of [gone.maxDelayMs(), gone.setMaxDelay(1), gone.takeLock(), gone.watch()])
      await expect(done(call$)).rejects.toThrow(/^logind: .*No such file or directory/s);
  });

  it('without the programs of systemd all calls are errors', async () => {
    const without = logind({ ...stage, env: { ...stage.env, PATH: '/no/such/folder' } });
    for (const call$ of [without.maxDelayMs(), without.setMaxDelay(1), without.takeLock(), without.watch()])
      await expect(done(call$)).rejects.toThrow(/^logind: spawn .* ENOENT$/);
  });

  it('a manager over the bus raises the delay, holds a lock, stops the pods at a shutdown and then releases it', async () => {
    const events: string[] = [];
    const say = (): void => undefined;
    const { values } = following(
      shutdownManager({
        inhibitor,
        groups: [{ priority: 0, graceSeconds: 30 }],
        activePods: () => [aPod()],
        stopPods$: defer(() => {
          events.push(`stop, locks released: ${stage.said.includes('released')}`);
          return EMPTY;
        }),
        states: noShutdownStates,
        metrics: { nodeShutdown: () => undefined },
        recordEvent: ({ message }) => events.push(message),
        log: { debug: say, info: say, warn: say, error: say },
        scheduler: monotonicScheduler,
        wallClock: () => Date.now(),
      }),
    );
    await stage.prints(LOCK);
    expect(stage.said).toContain(RELOAD);
    stage.command('signal 1');
    await stage.prints('released');
    stage.command('signal 0');
    await stage.prints(LOCK, 2);
    expect(values).toEqual([true, false]);
    expect(events).toEqual([
      'Shutdown manager detected shutdown event',
      'stop, locks released: false',
      'Shutdown manager detected shutdown cancellation',
    ]);
  });
});

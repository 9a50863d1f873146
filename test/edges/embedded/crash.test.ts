import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sendSignal } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { killProcess } from '../../support/kill-process.js';
import { eventually, isRoot, processesWith, RuntimeUnderTest, tracesOf } from './runtime-under-test.js';

const KILLS = 24;
/** Two dozen starts of a process; seconds as a rule. */
const SLOW_MACHINE_MS = 300_000;
const users = isRoot
  ? [
      { who: 'root', uid: undefined },
      { who: 'an ordinary user', uid: 65534 },
    ]
  : [{ who: 'this user', uid: undefined }];

/** Every cgroup directory of this machine whose name is one of the ids. */
const cgroupsOf = (ids: readonly string[]): string[] => {
  const look = (directory: string, depth: number): string[] =>
    depth === 0 || !existsSync(directory)
      ? []
      : readdirSync(directory, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .flatMap(({ name }) => [...(ids.includes(name) ? [name] : []), ...look(`${directory}/${name}`, depth - 1)]);
  return look('/sys/fs/cgroup', 4);
};

/** The process with the most mounts in its namespace. */
const mostMounts = (pids: readonly number[]) =>
  pids
    .flatMap((pid) => {
      try {
        return [{ pid, mounts: readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n').length }];
      } catch {
        return [];
      }
    })
    .toSorted((one, other) => other.mounts - one.mounts)[0];

describe.each(users)('a runtime that is killed, run by $who', ({ uid }) => {
  const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
  beforeAll(() => host.start());
  afterAll(() => host.dispose());
  const named = (name: string) => ({ metadata: { name, attempt: 0 } });
  const supervisorOf = (id: string) =>
    eventually('there is a supervisor', () => processesWith(`${id}/io-1/supervise.sh`)[0]);

  it(
    `loses no process, no exit code and no log line in ${KILLS} kills`,
    async () => {
      const pod = await host.sandbox('crash');
      // Writes numbers to both streams for as long as the kills take, then ends with a code of its own.
      const stopFile = `${host.directory}/stop-counting`;
      const count = `i=0; while [ ! -e ${stopFile} ]; do i=$((i+1)); echo $i; echo $i >&2; [ $((i % 50)) = 0 ] && sleep 0.01; done; echo end $i; exit 23`;
      const counter = await host.run(pod, count, named('counter'));
      const { startedAt, logPath } = await host.status(counter);
      const shortLived: string[] = [];
      for (let round = 0; round < KILLS; round += 1) {
        const id = await host.create(
          pod,
          `echo round ${round}; sleep 0.0${round % 10}; exit ${round}`,
          named(`short-${round}`),
        );
        shortLived.push(id);
        const starting = host.runtime.startContainer({ containerId: id }).catch(() => undefined);
        if (round % 3 === 0) await starting;
        await host.kill('SIGKILL');
        await starting;
        await host.start();
        expect(await host.status(counter)).toMatchObject({ state: 'CONTAINER_RUNNING', startedAt });
      }
      for (const [round, id] of shortLived.entries()) {
        // A start that never reached the runtime left the container as it was; it can be started now.
        if ((await host.status(id)).state === 'CONTAINER_CREATED')
          await host.runtime.startContainer({ containerId: id });
        const status = await host.exited(id);
        expect([round, status.exitCode]).toEqual([round, round]);
        expect(host.output(status.logPath)).toBe(`round ${round}\n`);
      }
      await host.run(pod, `: > ${stopFile}`, named('stopper'));
      expect(await host.exited(counter)).toMatchObject({ exitCode: 23, reason: 'Error' });
      const numbers = host.output(logPath).trim().split('\n');
      expect(numbers.pop()).toBe(`end ${numbers.length}`);
      expect(numbers.findIndex((line, index) => line !== String(index + 1))).toBe(-1);
      const errors = host.output(logPath, 'stderr').trim().split('\n');
      expect(errors.length).toBe(numbers.length);
      expect(errors.findIndex((line, index) => line !== String(index + 1))).toBe(-1);
      await host.runtime.removePodSandbox({ podSandboxId: pod });
    },
    SLOW_MACHINE_MS,
  );

  it(
    'keeps or forgets a pod that was being made, and leaves nothing half made',
    async () => {
      for (let round = 0; round < 6; round += 1) {
        const names = [1, 2, 3, 4, 5].map((number) => `half-${round}-${number}`);
        const making = names.map((name) => host.sandbox(name));
        await Promise.race(making);
        await host.kill('SIGKILL');
        const told = (await Promise.allSettled(making)).flatMap((result) =>
          result.status === 'fulfilled' ? [result.value] : [],
        );
        await host.start();
        const { items } = await host.runtime.listPodSandbox({});
        const kept = items.map(({ id }) => id);
        for (const id of told) expect(kept).toContain(id);
        for (const { id, state, metadata } of items) {
          expect(state).toBe('SANDBOX_READY');
          const container = await host.run(id, 'exit 3', named('works'));
          expect(await host.exited(container)).toMatchObject({ exitCode: 3 });
          expect(names).toContain(metadata?.name);
        }
        for (const name of names.filter((name) => !items.some(({ metadata }) => metadata?.name === name)))
          await host.sandbox(name);
        for (const { id } of (await host.runtime.listPodSandbox({})).items)
          await host.runtime.removePodSandbox({ podSandboxId: id });
        await eventually(
          'no process is left',
          () => processesWith(host.stateDirectory).filter((pid) => pid !== host.pid).length === 0,
        );
      }
    },
    SLOW_MACHINE_MS,
  );

  it('knows the code and the time of an exit that it did not see', async () => {
    const pod = await host.sandbox('unseen');
    const gate = `${host.directory}/unseen`;
    const wait = `while [ ! -e ${gate} ]; do sleep 0.05; done`;
    const id = await host.run(pod, `echo before; ${wait}; echo after; exit 11`, named('unseen'));
    const { logPath } = await host.status(id);
    await eventually('it runs', () => host.output(logPath).startsWith('before\n'));
    await host.kill('SIGKILL');
    writeFileSync(gate, '');
    const exitFile = await eventually('the supervisor wrote the code', () => {
      const path = `${host.stateDirectory}/containers/${id}/io-1/exit`;
      return existsSync(path) && readFileSync(path, 'utf8').startsWith('11\n') && path;
    });
    expect(exitFile).toContain(id);
    const seenAt = BigInt(Date.now() + 1000) * 1_000_000n;
    await host.start();
    const status = await host.exited(id);
    expect(status).toMatchObject({ exitCode: 11, reason: 'Error' });
    expect(status.finishedAt).toBeLessThan(seenAt);
    expect(host.output(logPath)).toBe('before\nafter\n');
    await host.runtime.removePodSandbox({ podSandboxId: pod });
  });

  it('admits that it does not know when the supervisor was killed too', async () => {
    const token = `unknown-${process.pid}-${uid ?? 0}`;
    const pod = await host.sandbox('unknown');
    const id = await host.run(pod, `sleep 1000; # ${token}`, named('unknown'));
    await host.kill('SIGKILL');
    killProcess(await supervisorOf(id));
    await host.start();
    expect(await host.exited(id)).toMatchObject({
      exitCode: 255,
      reason: 'Unknown',
      message: 'the container ended while the runtime was not running; its exit code is unknown',
    });
    expect(processesWith(token)).toEqual([]);
    await host.runtime.removePodSandbox({ podSandboxId: pod });
  });

  it('ends no other session that has the number of a supervisor that was killed', async () => {
    const pod = await host.sandbox('number');
    const token = `number-${process.pid}-${uid ?? 0}`;
    const id = await host.run(pod, `sleep 1000; # ${token}`, named('number'));
    await host.kill('SIGKILL');
    const relays = processesWith(`${id}/io-1/`);
    killProcess(await supervisorOf(id));
    for (const pid of [...processesWith(token), ...relays]) sendSignal(pid, 'SIGKILL');
    await eventually('the container has ended', () => processesWith(token).length === 0);
    // The kernel gives numbers out again: from now on that of the supervisor belongs to this process.
    const other = spawn('sleep', ['2147483'], { detached: true, stdio: 'ignore', ...(uid && { uid, gid: uid }) });
    onTestFinished(() => void other.kill('SIGKILL'));
    const path = `${host.stateDirectory}/containers/${id}/container.json`;
    const record = JSON.parse(readFileSync(path, 'utf8')) as { supervisor: { pid: number; startTime: string } };
    record.supervisor.pid = other.pid!;
    writeFileSync(path, JSON.stringify(record));
    await host.start();
    expect(await host.exited(id)).toMatchObject({ exitCode: 255, reason: 'Unknown' });
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    await host.runtime.removePodSandbox({ podSandboxId: pod });
  });

  it('notices the end of adopted containers, and stops and removes them like its own', async () => {
    const pod = await host.sandbox('adopted');
    const byItself = await host.run(pod, 'read x < $GATE; exit 5', {
      ...named('gate'),
      command: ['/bin/sh', '-c', `mkfifo ${host.directory}/gate; read x < ${host.directory}/gate; exit 5`],
    });
    const stopped = await host.run(pod, 'trap "exit 8" TERM; echo up; while :; do sleep 0.05; done', named('stopped'));
    const { logPath } = await host.status(stopped);
    await eventually('the trap is set', () => host.output(logPath) === 'up\n');
    await host.kill('SIGTERM');
    expect(existsSync(host.socketPath)).toBe(false);
    await host.start();
    const { exitCode } = await host.runtime.execSync({
      containerId: byItself,
      cmd: ['/bin/sh', '-c', `echo > ${host.directory}/gate`],
    });
    // The container may end, and take the command with it, before the command has ended.
    expect([0, 137]).toContain(exitCode);
    expect(await host.exited(byItself)).toMatchObject({ exitCode: 5 });
    await host.runtime.stopContainer({ containerId: stopped, timeout: 30n });
    expect(await host.status(stopped)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 8 });
    await host.runtime.removePodSandbox({ podSandboxId: pod });
  });

  const killsAtMounts = isRoot && uid === undefined;
  // Only root can mount.
  if (killsAtMounts)
    it(
      `leaves no mount on the machine in ${KILLS} kills between the steps of a start`,
      async () => {
        const pod = await host.sandbox('mounting');
        const data = `${host.directory}/data`;
        const path = `/rx-embedded-kills-${process.pid}`;
        mkdirSync(data);
        writeFileSync(`${data}/file`, 'content\n');
        const traces = () => [...tracesOf(path), ...tracesOf(host.directory)];
        const machineMounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length;
        const mounts = [
          { hostPath: data, containerPath: `${path}/deep` },
          { hostPath: `${data}/file`, containerPath: `${path}/deep/new/file`, readonly: true },
          { hostPath: '/', containerPath: `${path}-root` },
        ];
        const reached: number[] = [];
        for (let round = 0; round < KILLS; round += 1) {
          const script = `cat ${path}/deep/new/file ${path}-root${data}/file; exit ${round}`;
          const id = await host.create(pod, script, { ...named(`mounting-${round}`), mounts });
          let isOver = false;
          const starting = host.runtime
            .startContainer({ containerId: id })
            .catch(() => undefined)
            .then(() => (isOver = true));
          // The steps are the mounts that the process of the start has made.
          const wanted = machineMounts + round * 4;
          let pids: readonly number[] = [];
          let shell = mostMounts(pids);
          while (!isOver && (shell?.mounts ?? 0) < wanted) {
            if ((shell?.mounts ?? 0) <= machineMounts) pids = processesWith(`${id}/io-1/payload.sh`);
            shell = mostMounts(pids);
            await new Promise((resolve) => setImmediate(resolve));
          }
          await host.kill('SIGKILL');
          if (round % 2 === 1 && shell && !isOver) sendSignal(shell.pid, 'SIGKILL');
          await starting;
          reached.push(shell?.mounts ?? 0);
          expect(traces()).toEqual([]);
          await host.start();
          if ((await host.status(id)).state === 'CONTAINER_CREATED')
            await host.runtime.startContainer({ containerId: id });
          const { exitCode, logPath } = await host.exited(id);
          if (round % 2 === 0) {
            expect([round, exitCode]).toEqual([round, round]);
            expect(host.output(logPath)).toBe('content\ncontent\n');
          }
          await host.runtime.removeContainer({ containerId: id });
        }
        // Kills met starts at several steps.
        expect(new Set(reached).size).toBeGreaterThan(3);
        await host.runtime.removePodSandbox({ podSandboxId: pod });
        expect(traces()).toEqual([]);
        expect(readdirSync(`${host.stateDirectory}/containers`)).toEqual([]);
        expect(readdirSync(data).toSorted()).toEqual(['file', 'new']);
      },
      SLOW_MACHINE_MS,
    );

  it('leaves no process, cgroup, mount or file behind when everything is removed', async () => {
    const ids: string[] = [];
    for (const name of ['left-one', 'left-two']) {
      const pod = await host.sandbox(name);
      ids.push(
        pod,
        await host.run(pod, 'sleep 1000 & exec sleep 1000', named('a')),
        await host.run(pod, 'true', named('b')),
      );
    }
    if (uid === undefined && isRoot) expect(cgroupsOf(ids).length).toBeGreaterThan(0);
    await host.kill('SIGKILL');
    await host.start();
    for (const { id } of (await host.runtime.listPodSandbox({})).items)
      await host.runtime.removePodSandbox({ podSandboxId: id });
    expect(cgroupsOf(ids)).toEqual([]);
    await eventually(
      'no process is left',
      () => processesWith(host.stateDirectory).filter((pid) => pid !== host.pid).length === 0,
    );
    expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(host.directory);
    expect(readdirSync(`${host.stateDirectory}/containers`)).toEqual([]);
    expect(readdirSync(`${host.stateDirectory}/sandboxes`)).toEqual([]);
  });
});

describe.each(users)('a runtime whose state directory is removed, run by $who', ({ uid }) => {
  it('ends by itself, with all processes that no other runtime can find, and does not keep another one from starting', async () => {
    const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
    onTestFinished(() => host.dispose());
    await host.start();
    const token = `lost-${process.pid}-${uid ?? 'own'}`;
    await host.run(await host.sandbox('lost'), `: ${token}; while :; do sleep 1; done`);
    await eventually('the container runs', () => processesWith(token).length > 0);
    const { pid } = host;
    // What runs there may still write; like rm -rf, which is repeated then.
    rmSync(host.stateDirectory, { recursive: true, maxRetries: 20 });
    await eventually('the runtime has ended', () => !existsSync(`/proc/${pid}`));
    expect(processesWith(token)).toEqual([]);
    // Those that looked after the container see its end, and end then.
    await eventually('no process is left', () => processesWith(host.stateDirectory).length === 0);
    expect(existsSync(host.stateDirectory)).toBe(false);
    await host.start();
  });

  it('leaves nothing that runs to the next test, although it is dead', async () => {
    const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
    onTestFinished(() => host.dispose());
    await host.start();
    const token = `dead-${process.pid}-${uid ?? 'own'}`;
    const daemon = `sh -c "while :; do sleep 1; done" ${token}`;
    const pod = await host.sandbox('dead');
    await host.run(pod, `( setsid ${daemon} & ) > /dev/null 2>&1; exec ${daemon}`);
    await eventually('both run', () => processesWith(token).length >= 2);
    await host.kill('SIGKILL');
    await host.dispose();
    expect([...processesWith(token), ...processesWith(host.directory)]).toEqual([]);
    expect(cgroupsOf([pod])).toEqual([]);
  });

  it('leaves its containers to its successor when only its lock was removed', async () => {
    const host = new RuntimeUnderTest(uid === undefined ? {} : { uid });
    onTestFinished(() => host.dispose());
    await host.start();
    const container = await host.run(await host.sandbox('unlocked'), 'while :; do sleep 1; done');
    const { pid } = host;
    rmSync(join(host.stateDirectory, 'runtime.lock'));
    await eventually('the runtime has ended', () => !existsSync(`/proc/${pid}`));
    await host.start();
    expect(await host.status(container)).toMatchObject({ state: 'CONTAINER_RUNNING' });
  });
});

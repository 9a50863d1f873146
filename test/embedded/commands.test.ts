import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { alone } from './churn.js';
import { Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

const NOBODY = 65534;

describe.concurrent('an agent that is asked to stop', () => {
  it('leaves its pods running, and the next one goes on with them', async ({ daemon }) => {
    daemon.apply(alone('web', SLEEP));
    daemon.apply({ ...alone('job', 'exit 3'), restartPolicy: 'Never' });
    await daemon.start();
    const { id } = await daemon.reached('web', 'CONTAINER_RUNNING');
    const job = await daemon.reached('job', 'CONTAINER_EXITED');
    const process = await daemon.processOf('web');
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await daemon.processOf('web')).toEqual(process);
    // Changed while no test reads it.
    daemon.apply(alone('late', SLEEP));
    await daemon.start();
    await daemon.reached('late', 'CONTAINER_RUNNING');
    await eventually('the agent knows again how things are', async () => {
      const phases = (await daemon.shownPods()).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
      expect(phases.toSorted()).toEqual(['job-node1 Failed', 'late-node1 Running', 'web-node1 Running']);
      return true;
    });
    expect(await daemon.containersOf('web')).toMatchObject([{ id, state: 'CONTAINER_RUNNING' }]);
    expect(await daemon.containersOf('job')).toMatchObject([{ id: job.id }]);
    expect(await daemon.processOf('web')).toEqual(process);
    for (const name of ['web', 'job']) expect(daemon.lines(`starts-${name}`)).toHaveLength(1);
    // The new agent is younger than what it found: the age that `pods` shows is the pod's.
    for (const { metadata, status } of await daemon.shownPods()) {
      const { running, terminated } = status?.containerStatuses?.[0]?.state ?? {};
      const containerStart = Date.parse(running?.startedAt ?? terminated?.startedAt ?? '');
      expect(Date.parse(status?.startTime ?? ''), metadata.name).toBeLessThanOrEqual(containerStart);
    }
  });

  it('stops them, too, where that is asked for', async ({ daemon }) => {
    daemon.apply({ ...alone('quick', SLEEP) });
    daemon.apply({
      name: 'deaf',
      terminationGracePeriodSeconds: 1,
      containers: [{ script: "trap '' TERM; echo up; while :; do sleep 0.05; done" }],
    });
    await daemon.start('--stop-pods-on-exit');
    await daemon.reached('quick', 'CONTAINER_RUNNING');
    const deaf = await daemon.reached('deaf', 'CONTAINER_RUNNING');
    await eventually('it is deaf', () => daemon.output(deaf).includes('up'));
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect([...daemon.processesOf('quick'), ...daemon.processesOf('deaf')]).toEqual([]);
    expect((await daemon.containers()).map(({ state }) => state)).toEqual(['CONTAINER_EXITED', 'CONTAINER_EXITED']);
    expect((await daemon.sandboxes()).map(({ state }) => state)).toEqual(['SANDBOX_NOTREADY', 'SANDBOX_NOTREADY']);
    // What held the pods together may still be on its way out.
    const runtime = daemon.runtimeProcess()?.pid;
    await eventually('only the runtime remains', () => {
      expect(daemon.remains().filter((line) => !line.startsWith(`${runtime} `))).toEqual([]);
      return true;
    });
    expect(daemon.journal().at(-1)).toMatchObject({ kind: 'agent-stopping', reason: 'SIGTERM' });
  });

  it('is found by commands with all its pods, however soon after its start', async ({ daemon }) => {
    daemon.apply(alone('web', SLEEP));
    await daemon.start();
    await daemon.reached('web', 'CONTAINER_RUNNING');
    for (let round = 0; round < 3; round += 1) {
      await daemon.kill('SIGKILL');
      await daemon.start();
      const found = await daemon.run('exec', '--root-dir', daemon.rootDir, 'web', '--', 'echo', 'in it');
      expect(found).toEqual({ code: 0, stdout: 'in it\n', stderr: '' });
    }
  });

  it('is alone on its root directory', async ({ daemon }) => {
    daemon.apply(alone('web', SLEEP));
    await daemon.start();
    const process = await daemon.processOf('web');
    const second = await daemon.run(
      'run',
      '--root-dir',
      daemon.rootDir,
      '--pod-manifest-path',
      daemon.manifests,
      '--healthz-port',
      '0',
    );
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: another agent (pid ${daemon.agent.pid}) already uses ${daemon.rootDir}\n`,
    });
    expect((await daemon.health()).body).toBe('ok');
    expect(await daemon.processOf('web')).toEqual(process);
  });
});

describe.concurrent('a running agent', () => {
  it('answers commands and requests', async ({ daemon }) => {
    daemon.apply(alone('web', SLEEP));
    daemon.apply({ name: 'failing', containers: [{ script: 'exit 5' }] });
    await daemon.start();
    await daemon.reached('failing', 'CONTAINER_EXITED', { attempt: 1 });
    const table = await eventually('both pods are listed as they are', async () => {
      const { stdout } = await daemon.run('pods', '--root-dir', daemon.rootDir);
      return /^default +web-node1 +1\/1 +Running +0 /m.test(stdout) && stdout.includes('CrashLoopBackOff') && stdout;
    });
    expect(table).toMatch(/^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE\n/);
    const listed = Number(/^default +failing-node1 +0\/1 +CrashLoopBackOff +(\d+) /m.exec(table)?.[1]);
    expect(listed).toBeGreaterThanOrEqual(1);

    // How often it has been started changes meanwhile on a slow machine: it counts if it is the same before and afterwards.
    const whileWaiting = <T>(what: string, look: (restarts: number) => Promise<T>) =>
      eventually(what, async () => {
        const newest = async () => (await daemon.containersOf('failing'))[0];
        const before = await newest();
        const found = await look(before?.attempt ?? 0);
        return before?.state === 'CONTAINER_EXITED' && (await newest())?.id === before.id && found;
      });
    await whileWaiting('the story of the failing container has its back-off', async (restarts) => {
      const why = await daemon.run('why', 'failing-node1/main', '--root-dir', daemon.rootDir);
      expect(why).toMatchObject({ code: 0, stderr: '' });
      expect(why.stdout).toContain('exit code 5');
      expect(why.stdout).toMatch(
        new RegExp(`next: restart of main in \\d.*: back-off step ${Math.min(restarts, 6)} of 6`),
      );
      return true;
    });

    expect(await daemon.run('validate', daemon.manifests)).toEqual({
      code: 0,
      stdout: 'ok: 2 pods in 2 files\n',
      stderr: '',
    });
    const bad = join(daemon.directory, 'bad.yaml');
    writeFileSync(bad, 'apiVersion: v1\nkind: Pod\nmetadata: { name: x }\nspec:\n  container: []\n');
    const refused = await daemon.run('validate', bad);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain(`${bad}:5:3: spec.container: is not a known field (expected perhaps containers)`);

    expect(await daemon.health()).toEqual({ status: 200, body: 'ok' });
    expect((await daemon.health('?verbose')).body).toContain('[+]syncloop ok');
    const web = (await daemon.shownPods()).find(({ metadata }) => metadata.name === `web-${NODE_NAME}`);
    const { id } = await daemon.reached('web', 'CONTAINER_RUNNING');
    expect(web?.status).toMatchObject({
      phase: 'Running',
      containerStatuses: [
        { name: 'main', ready: true, restartCount: 0, containerID: expect.stringContaining(id) as unknown },
      ],
    });
    await whileWaiting('the metrics count the starts', async (restarts) => {
      const metrics = (await daemon.get('/metrics')).body;
      expect(metrics).toMatch(/^kubelet_running_containers\{.*container_state="running".*\} 1$/m);
      // One of `web`, and those of `failing`.
      const count = 2 + restarts;
      expect(metrics).toMatch(
        new RegExp(`^kubelet_runtime_operations_total\\{operation_type="start_container"\\} ${count}$`, 'm'),
      );
      expect(metrics).toMatch(/^kubelet_pleg_relist_duration_seconds_count \d+$/m);
      expect(metrics).toMatch(/^kubelet_cgroup_version [12]$/m);
      expect(metrics).toMatch(/^kubelet_metrics_provider\{.*provider="cadvisor".*\} 1$/m);
      expect(metrics).toMatch(
        new RegExp(
          `^kubelet_container_log_filesystem_used_bytes\\{.*pod="web-${NODE_NAME}",container="main".*\\} \\d+$`,
          'm',
        ),
      );
      expect(metrics).toMatch(/^kubernetes_feature_enabled\{.*name="EnvFiles",stage="BETA".*\} 1$/m);
      return true;
    });
  });
});

describe.concurrent('an agent that runs once', () => {
  it('brings the pods up and leaves them to the next one', async ({ daemon }) => {
    daemon.apply(alone('web', SLEEP));
    daemon.apply(alone('log', `echo up; ${SLEEP}`));
    const once = [
      'run',
      '--runonce',
      '--root-dir',
      daemon.rootDir,
      '--hostname-override',
      NODE_NAME,
      '--healthz-port',
      '0',
    ];
    const { code, stderr } = await daemon.run(...once, '--pod-manifest-path', daemon.manifests);
    expect(code).toBe(0);
    expect(stderr.match(/"message":"the pod runs"/g)).toHaveLength(2);
    const process = await daemon.processOf('web');
    const log = await daemon.reached('log', 'CONTAINER_RUNNING');
    await eventually('its log is written', () => daemon.output(log).join() === 'up');
    await daemon.start();
    await eventually('they are known', async () =>
      (await daemon.shownPods()).every(({ status }) => status?.phase === 'Running'),
    );
    expect(await daemon.processOf('web')).toEqual(process);
    for (const name of ['web', 'log']) expect(daemon.lines(`starts-${name}`)).toHaveLength(1);
  });
});

describe.runIf(isRoot)('an ordinary user', () => {
  it('can do the same', async ({ onTestFinished }) => {
    const daemon = new Daemon(NOBODY);
    onTestFinished(() => daemon.dispose());
    daemon.apply({ ...alone('web', `id -u; ${SLEEP}`) });
    daemon.apply({ ...alone('job', 'echo "from $(id -u)"; exit 6'), restartPolicy: 'Never' });
    await daemon.start();
    const web = await daemon.reached('web', 'CONTAINER_RUNNING');
    const job = await daemon.reached('job', 'CONTAINER_EXITED');
    expect(job).toMatchObject({ exitCode: 6 });
    expect(daemon.output(job)).toEqual([`from ${NOBODY}`]);
    await eventually('it runs as that user', () => daemon.output(web).join() === String(NOBODY));
    const process = await daemon.processOf('web');
    await daemon.kill('SIGKILL');
    await daemon.killRuntime('SIGKILL');
    await daemon.start();
    await eventually('it is known again', async () =>
      (await daemon.shownPods()).some(({ status }) => status?.phase === 'Running'),
    );
    expect(await daemon.processOf('web')).toEqual(process);
    daemon.delete('web.yaml');
    await eventually('its processes are gone', () => daemon.processesOf('web').length === 0);
    expect(daemon.lines('starts-web')).toHaveLength(1);
  });
});

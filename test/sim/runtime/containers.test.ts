import { describe, expect, it } from 'vitest';
import { POD_UID } from '../../../src/model/cri/labels.js';
import { containerConfig, runtimeStage } from './runtime-stage.js';

describe('containers of the simulated runtime', () => {
  it('are created, run and end as they behave', () => {
    const { sandbox, run, answer, simulated, scheduler } = runtimeStage({
      containers: { main: [{ exitsAfterMs: 5000, exitCode: 3 }] },
    });
    const containerId = run(sandbox(), { attempt: 2 });
    const status = () => answer(simulated.runtime.containerStatus({ containerId })).status!;
    const running = status();
    expect(running).toMatchObject({
      metadata: { name: 'main', attempt: 2 },
      state: 'CONTAINER_RUNNING',
      finishedAt: 0n,
      image: { image: 'docker.io/library/nginx:latest', userSpecifiedImage: 'nginx' },
      logPath: '/var/log/pods/default_web_uid-1/main/2.log',
      labels: { [POD_UID]: 'uid-1' },
    });
    expect(running.imageRef).toMatch(/^docker.io\/library\/nginx@sha256:[0-9a-f]{64}$/);
    expect(running.startedAt > running.createdAt && running.createdAt > 0n).toBe(true);
    scheduler.runUntil(6000);
    expect(status()).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 3, reason: 'Error' });
    expect(status().finishedAt).toBe(running.startedAt + 5_000_000_000n);
  });

  it.each([
    [{ exitsAfterMs: 0 }, { exitCode: 0, reason: 'Completed' }],
    [
      { exitsAfterMs: 0, exitCode: 2 },
      { exitCode: 2, reason: 'Error' },
    ],
    [
      { exitsAfterMs: 0, outOfMemory: true },
      { exitCode: 137, reason: 'OOMKilled' },
    ],
  ])('that end at once by %j say why', (behaviour, end) => {
    const { sandbox, run, answer, simulated } = runtimeStage({ containers: { '*': [behaviour] } });
    const containerId = run(sandbox());
    expect(answer(simulated.runtime.containerStatus({ containerId })).status).toMatchObject({
      state: 'CONTAINER_EXITED',
      ...end,
    });
  });

  it('behave by pod and container first, then by container, then like any other, one instance after the other', () => {
    const { sandbox, create, simulated, answer } = runtimeStage({
      containers: {
        'web/main': [{ startsAfterMs: 10 }, { startsAfterMs: 20 }],
        main: [{ startsAfterMs: 30 }],
        '*': [{ startsAfterMs: 40 }],
      },
    });
    const takes = (sandboxId: string, name: string, attempt: number) => {
      const containerId = create(sandboxId, { name, attempt });
      answer(simulated.runtime.startContainer({ containerId }));
      const { createdAt, startedAt } = answer(simulated.runtime.containerStatus({ containerId })).status!;
      return Number((startedAt - createdAt) / 1_000_000n) - 2;
    };
    const [web, db, other] = [
      sandbox({ name: 'web-node-1' }),
      sandbox({ uid: 'uid-2', name: 'db' }),
      sandbox({ uid: 'uid-3', name: 'web' }),
    ];
    expect([0, 1, 2].map((attempt) => takes(web, 'main', attempt))).toEqual([10, 20, 20]);
    // Another pod begins with the first instance.
    expect(takes(other, 'main', 7)).toBe(10);
    expect([takes(db, 'main', 0), takes(db, 'sidecar', 0)]).toEqual([30, 40]);
  });

  it('have a name in the pod that no other can have, in any sandbox', () => {
    const { sandbox, create, answer, simulated } = runtimeStage();
    const one = create(sandbox());
    const next = sandbox({ attempt: 1 });
    expect(() => create(next)).toThrow(/name "main_web_default_uid-1_0" is reserved for/);
    create(next, { attempt: 1 });
    answer(simulated.runtime.removeContainer({ containerId: one }));
    create(next);
  });

  it('need their sandbox and their image', () => {
    const { sandbox, create, answer, simulated } = runtimeStage({ images: {} });
    expect(() => create('nobody')).toThrow(/not found/);
    const podSandboxId = sandbox();
    expect(() => create(podSandboxId)).toThrow(/image "nginx": not found/);
    answer(simulated.images.pullImage({ image: { image: 'nginx' } }));
    // The name was not used up by the attempt that failed.
    create(podSandboxId);
  });

  it('start once, and only in a sandbox that is ready', () => {
    const { sandbox, create, answer, ask, simulated, scheduler } = runtimeStage({
      containers: { slow: [{ startsAfterMs: 100 }] },
    });
    const podSandboxId = sandbox();
    const [slow, quick, late] = ['slow', 'quick', 'late'].map((name) => create(podSandboxId, { name }));
    const start = (containerId = '') => simulated.runtime.startContainer({ containerId });
    const [first, second] = [ask(start(slow)), ask(start(slow))];
    scheduler.runUntil(scheduler.now() + 2);
    expect(second.heard()).toMatchObject({ error: 'container is already in starting state' });
    scheduler.runUntil(scheduler.now() + 110);
    expect(first.heard()).toMatchObject({ value: {} });
    answer(start(quick));
    expect(() => answer(start(quick))).toThrow('container is in CONTAINER_RUNNING state');
    expect(() => answer(start('nobody'))).toThrow(/not found/);
    answer(simulated.runtime.stopPodSandbox({ podSandboxId }));
    expect(() => answer(start(late))).toThrow(/is not running/);
  });

  it('that cannot start end with 128, and say so to every reader', () => {
    const { sandbox, create, answer, simulated } = runtimeStage({
      containers: { main: [{ startError: 'exec: "nope": executable file not found in $PATH', startsAfterMs: 10 }] },
    });
    const containerId = create(sandbox());
    expect(() => answer(simulated.runtime.startContainer({ containerId }))).toThrow(/executable file not found/);
    expect(answer(simulated.runtime.containerStatus({ containerId })).status).toMatchObject({
      state: 'CONTAINER_EXITED',
      exitCode: 128,
      reason: 'StartError',
      message: 'exec: "nope": executable file not found in $PATH',
      startedAt: 0n,
    });
  });

  it('that are being started cannot be removed; those that run are killed first', () => {
    const { sandbox, create, ask, answer, simulated, scheduler } = runtimeStage({
      containers: { main: [{ startsAfterMs: 100 }] },
    });
    const containerId = create(sandbox());
    ask(simulated.runtime.startContainer({ containerId }));
    scheduler.runUntil(scheduler.now() + 10);
    expect(() => answer(simulated.runtime.removeContainer({ containerId }))).toThrow(
      /starting state, can't be removed/,
    );
    scheduler.runUntil(scheduler.now() + 200);
    expect(simulated.liveContainers()).toHaveLength(1);
    answer(simulated.runtime.removeContainer({ containerId }));
    expect(simulated.containers()).toEqual([]);
    answer(simulated.runtime.removeContainer({ containerId }));
  });

  it('go on starting when the caller has gone, but never start when the call did not arrive', () => {
    const { sandbox, create, ask, simulated, scheduler } = runtimeStage({
      containers: { main: [{ startsAfterMs: 100 }] },
    });
    const podSandboxId = sandbox();
    const [asked, unasked] = [create(podSandboxId), create(podSandboxId, { attempt: 1 })];
    const first = ask(simulated.runtime.startContainer({ containerId: asked }));
    scheduler.runUntil(scheduler.now() + 1);
    const second = ask(simulated.runtime.startContainer({ containerId: unasked }));
    first.subscription.unsubscribe();
    second.subscription.unsubscribe();
    scheduler.runUntil(scheduler.now() + 500);
    expect(simulated.liveContainers().map(({ attempt }) => attempt)).toEqual([0]);
    expect([first.heard(), second.heard()]).toEqual(['nothing yet', 'nothing yet']);
  });

  it('may be broken off when the caller has gone: never started, or as one that cannot start', () => {
    const ends = Array.from({ length: 20 }, (_, seed) => {
      const { sandbox, create, ask, answer, simulated, scheduler, told } = runtimeStage(
        { breaksOffGivenUp: 1, containers: { main: [{ startsAfterMs: 100 }] } },
        seed,
      );
      const containerId = create(sandbox());
      const { subscription } = ask(simulated.runtime.startContainer({ containerId }));
      scheduler.runUntil(scheduler.now() + 50);
      subscription.unsubscribe();
      scheduler.runUntil(scheduler.now() + 1000);
      expect(told.filter(({ kind }) => kind === 'container-started')).toEqual([]);
      const { state, exitCode } = answer(simulated.runtime.containerStatus({ containerId })).status!;
      answer(simulated.runtime.removeContainer({ containerId }));
      return `${state} ${exitCode}`;
    });
    expect(new Set(ends)).toEqual(new Set(['CONTAINER_CREATED 0', 'CONTAINER_EXITED 128']));
  });

  it('are listed by id, sandbox, state and labels', () => {
    const { sandbox, create, run, answer, simulated } = runtimeStage();
    const [web, db] = [sandbox(), sandbox({ uid: 'uid-2', name: 'db' })];
    const ids = [run(web), create(web, { name: 'side' }), run(db)];
    const listed = (filter: object) =>
      answer(simulated.runtime.listContainers({ filter })).containers.map(({ id }) => ids.indexOf(id));
    expect(listed({})).toEqual([0, 1, 2]);
    expect(listed({ id: ids[1] })).toEqual([1]);
    expect(listed({ podSandboxId: web })).toEqual([0, 1]);
    expect(listed({ state: { state: 'CONTAINER_RUNNING' } })).toEqual([0, 2]);
    expect(listed({ labelSelector: { [POD_UID]: 'uid-1' }, state: { state: 'CONTAINER_CREATED' } })).toEqual([1]);
    expect(listed({ labelSelector: { 'io.kubernetes.container.name': 'main' } })).toEqual([0, 2]);
  });

  it('write their termination messages into the file that is mounted for them', () => {
    const { sandbox, run, disk, scheduler, answer } = runtimeStage({
      containers: { main: [{ exitsAfterMs: 0, terminationMessage: 'out of tea' }] },
    });
    const { podFiles, files } = disk.ports(scheduler);
    files.makeDirectory('/pods', 0o755).subscribe();
    podFiles.write('/pods/words', '', 0o666).subscribe();
    const mounts = [{ containerPath: '/dev/termination-log', hostPath: '/pods/words' }];
    run(sandbox(), { spec: { terminationMessagePath: '/dev/termination-log' }, config: { mounts } });
    expect(answer(podFiles.read('/pods/words'))).toBe('out of tea');
  });

  it('write their files into the innermost volume of the path, and only where they may', () => {
    const { sandbox, run, disk, scheduler, answer } = runtimeStage({
      containers: {
        main: [
          {
            writes: {
              '/data/deep/env': 'text',
              '/data/read/env': 'x',
              '/data': 'x',
              '/none/env': 'x',
              '/gone/env': 'x',
            },
          },
        ],
      },
    });
    const { podFiles, files } = disk.ports(scheduler);
    for (const path of ['/outer', '/inner', '/read']) files.makeDirectory(path, 0o755).subscribe();
    scheduler.runUntil(scheduler.now() + 100);
    const mounts = [
      { containerPath: '/data', hostPath: '/outer' },
      { containerPath: '/data/deep', hostPath: '/inner' },
      { containerPath: '/data/read', hostPath: '/read', readonly: true },
      { containerPath: '/gone', hostPath: '/gone' },
    ];
    run(sandbox(), { config: { mounts } });
    expect(answer(podFiles.read('/inner/env'))).toBe('text');
    // A mount that is read-only leaves nothing below the one around it.
    expect(disk.paths().filter((path) => path.endsWith('env'))).toEqual(['/inner/env']);
  });

  it('keep the mounts and the annotations that they were given', () => {
    const { sandbox, answer, simulated } = runtimeStage();
    const config = {
      ...containerConfig('web', 'uid-1', { spec: { ports: [{ containerPort: 80 }] } }),
      mounts: [{ containerPath: '/etc/hosts', hostPath: '/pods/hosts', readonly: true }],
    };
    const { containerId } = answer(simulated.runtime.createContainer({ podSandboxId: sandbox(), config }));
    const { status } = answer(simulated.runtime.containerStatus({ containerId }));
    expect(status?.annotations).toEqual(config.annotations);
    expect(status?.mounts).toMatchObject([{ containerPath: '/etc/hosts', hostPath: '/pods/hosts', readonly: true }]);
  });
});

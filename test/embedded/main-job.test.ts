import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { ContainerStatus } from '../../src/generated/runtime/v1/api.js';
import { isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { expectExamplesToRun } from './examples.js';
import { expectOrder, ITS_ORDER, orderedPod } from './ordered-pod.js';
import { QUICK_RESTARTS } from './quick-restarts.js';
import { type Watch, watchRuntime } from './watch.js';

/** How a container of a deleted pod has ended: its garbage may be collected before any other process reads it. */
const endOf = ({ ends }: Watch, { id }: ContainerStatus): Promise<ContainerStatus> =>
  eventually(`${id} has ended`, () => ends.get(id));

describe.concurrent('the examples', () => {
  it('run', async ({ daemon }) => {
    await expectExamplesToRun(daemon, join(daemon.directory, 'site'));
    const ofWeb = (await daemon.sandboxes()).filter(({ pod }) => pod === `web-${NODE_NAME}`).map(({ id }) => id);
    const left = daemon.remains(ofWeb).filter((line) => ofWeb.some((id) => line.includes(id)));
    expect(left).toEqual([]);
  });
});

describe.concurrent('stopping', () => {
  it('asks by the signal of the manifest, behind its gate', async ({ daemon }) => {
    const script = `trap 'echo usr1; exit 0' USR1; trap 'echo term; exit 0' TERM; echo up; while :; do sleep 0.1; done`;
    daemon.apply({
      name: 'signals',
      os: { name: 'linux' },
      containers: [{ script, lifecycle: { stopSignal: 'SIGUSR1' } }],
    });
    await daemon.start('--config', daemon.configuration({ featureGates: { ContainerStopSignals: true } }));
    const status = await daemon.reached('signals', 'CONTAINER_RUNNING');
    await eventually('it listens to signals', () => daemon.output(status).includes('up'));
    const shown = async () => (await daemon.shownPods())[0]?.status?.containerStatuses?.[0]?.stopSignal;
    await eventually('the status shows it', async () => (await shown()) === 'SIGUSR1');
    const watch = watchRuntime(daemon);
    daemon.delete('signals.yaml');
    expect(daemon.output(await endOf(watch, status))).toEqual(['up', 'usr1']);
  });

  it('lets a container end by itself, and kills one that does not after its grace period', async ({ daemon }) => {
    daemon.apply({
      name: 'polite',
      containers: [{ script: `trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.1; done` }],
    });
    daemon.apply({
      name: 'deaf',
      terminationGracePeriodSeconds: 1,
      containers: [{ script: `trap '' TERM; echo up; while :; do sleep 0.1; done` }],
    });
    await daemon.start();
    const up = async (pod: string): Promise<ContainerStatus> => {
      const status = await daemon.reached(pod, 'CONTAINER_RUNNING');
      await eventually(`${pod} listens to signals`, () => daemon.output(status).includes('up'));
      return status;
    };
    const [polite, deaf] = await Promise.all([up('polite'), up('deaf')]);
    const watch = watchRuntime(daemon);
    daemon.delete('polite.yaml');
    daemon.delete('deaf.yaml');
    await eventually(
      'no process is left',
      () => daemon.processesOf('polite').length + daemon.processesOf('deaf').length === 0,
    );
    expect(await endOf(watch, polite)).toMatchObject({ exitCode: 7 });
    expect(daemon.output(polite).at(-1)).toBe('bye');
    const killed = await endOf(watch, deaf);
    expect(killed).toMatchObject({ exitCode: 137 });
    const asked = daemon
      .journal()
      .find((entry) => entry.kind === 'config' && entry.op === 'REMOVE' && entry.pod?.name === `deaf-${NODE_NAME}`);
    const grace = Number(killed.finishedAt / 1_000_000n) - (asked?.at ?? Infinity);
    expect(grace).toBeGreaterThanOrEqual(1000);
    await eventually('the sandboxes are stopped', async () =>
      (await daemon.sandboxes()).every(({ state }) => state === 'SANDBOX_NOTREADY'),
    );
  });
});

describe.concurrent('an edited manifest', () => {
  it('starts its pod only when the former one has ended', async ({ daemon }) => {
    // The lock is held until the last process of a container has ended, and this one takes its time.
    const script = `exec 9>> "$DIR/lock"; flock -n 9 || echo overlap >> "$DIR/overlaps"; echo up >> "$DIR/ups"
      trap 'sleep 0.3; exit 0' TERM; while :; do sleep 0.05; done`;
    const edit = (version: number) =>
      daemon.apply({ name: 'web', labels: { version: `v${version}` }, containers: [{ script }] });
    edit(1);
    await daemon.start();
    for (let version = 2; version <= 4; version += 1) {
      await eventually('it is up', () => daemon.lines('ups').length === version - 1);
      edit(version);
    }
    await eventually('the last one is up', () => daemon.lines('ups').length === 4);
    // The process says so before the runtime does.
    await daemon.reached('web', 'CONTAINER_RUNNING');
    const running = (await daemon.containersOf('web')).filter(({ state }) => state === 'CONTAINER_RUNNING');
    const sandbox = (await daemon.sandboxes()).find(({ id }) => id === running[0]?.sandboxId);
    expect([running.length, sandbox?.labels.version]).toEqual([1, 'v4']);
    expect(daemon.lines('overlaps')).toEqual([]);
  });
});

describe.concurrent('the containers of a pod', () => {
  it('start and stop in their order', async ({ daemon }) => {
    daemon.apply(orderedPod('order', '$DIR/order'));
    await daemon.start();
    await eventually('main runs', () => daemon.lines('order').includes('main starts'));
    await expectOrder(daemon, 'order');
    const watch = watchRuntime(daemon);
    const sidecar = await daemon.reached('order', 'CONTAINER_RUNNING', { name: 'sidecar' });
    daemon.delete('order.yaml');
    await endOf(watch, sidecar);
    expect(daemon.lines('order')).toEqual(ITS_ORDER);
  });

  it('are started again as the restart policy says', async ({ daemon }) => {
    const failsOnce = 'echo x >> "$DIR/tries"; [ $(wc -l < "$DIR/tries") -gt 1 ] || exit 3';
    daemon.apply({ name: 'on-failure', restartPolicy: 'OnFailure', containers: [{ script: failsOnce }] });
    daemon.apply({ name: 'never', restartPolicy: 'Never', containers: [{ script: 'exit 4' }] });
    daemon.apply({ name: 'always', restartPolicy: 'Always', containers: [{ script: 'exit 0' }] });
    await daemon.start('--config', daemon.configuration(QUICK_RESTARTS));
    expect(await daemon.reached('never', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 4 });
    expect(await daemon.reached('on-failure', 'CONTAINER_EXITED', { attempt: 1 })).toMatchObject({ exitCode: 0 });
    // By then the others would have been started again, too.
    await daemon.reached('always', 'CONTAINER_EXITED', { attempt: 4 });
    expect(await daemon.containersOf('never')).toMatchObject([{ attempt: 0 }]);
    expect((await daemon.containersOf('on-failure'))[0]).toMatchObject({ attempt: 1 });
    expect(daemon.lines('tries')).toHaveLength(2);
    await eventually('the phases show the same', async () => {
      const phases = (await daemon.shownPods()).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
      expect(phases.toSorted()).toEqual(['always-node1 Running', 'never-node1 Failed', 'on-failure-node1 Succeeded']);
      return true;
    });
  });

  it('have the surroundings that the manifest asks for', async ({ daemon }) => {
    mkdirSync(join(daemon.directory, 'work'));
    daemon.apply({
      name: 'env',
      hostname: 'box',
      restartPolicy: 'Never',
      containers: [
        {
          script: 'hostname; pwd; id -u; echo "$GREETING"; echo "$WHERE"; echo "$ESCAPED"; echo to stderr >&2',
          workingDir: join(daemon.directory, 'work'),
          env: [
            { name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'WHERE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
            { name: 'GREETING', value: 'hello $(WHO)' },
            { name: 'ESCAPED', value: '$$(WHO) $(UNSET)' },
          ],
          ...(isRoot && { securityContext: { runAsUser: 65534, runAsGroup: 65534 } }),
        },
      ],
    });
    await daemon.start();
    const status = await daemon.reached('env', 'CONTAINER_EXITED');
    expect(status.logPath).toBe(
      join(daemon.rootDir, `pod-logs/default_env-node1_${(await daemon.containersOf('env'))[0]?.uid}/main/0.log`),
    );
    const lines = daemon.logLines(status);
    expect(lines.filter(({ stream }) => stream === 'stdout').map(({ content }) => content)).toEqual([
      isRoot ? 'box' : hostname(),
      join(daemon.directory, 'work'),
      String(isRoot ? 65534 : process.geteuid?.()),
      `hello env-${NODE_NAME}`,
      NODE_NAME,
      '$(WHO) $(UNSET)',
    ]);
    expect(lines.filter(({ stream }) => stream === 'stderr')).toEqual([
      { stream: 'stderr', tag: 'F', content: 'to stderr' },
    ]);
  });
});

import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { type ContainerdNode, it as onOwnNode } from './containerd-node.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();

const exec = (script: string) => ({ exec: { command: ['sh', '-c', script] } });
/** As often as probes can be, and of one mind at once. */
const EAGER = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 20 };
/** Serves the files of a folder that it makes. */
const serving = (port: number): string =>
  `mkdir /tmp/www; echo here > /tmp/www/index.html; exec httpd -f -p ${port} -h /tmp/www`;

const eventsOf = (node: ContainerdNode, pod: string): readonly string[] =>
  node
    .journal()
    .flatMap((entry) =>
      entry.kind === 'event' && entry.pod?.name === `${pod}-${NODE_NAME}`
        ? [`${entry.type} ${entry.reason} ${entry.message}`]
        : [],
    );
const why = async (node: ContainerdNode, pod: string): Promise<string> =>
  (await node.run('why', `${pod}-${NODE_NAME}`, '--root-dir', node.rootDir)).stdout;

/** What the agent's server shows of the first container, and whether the pod is ready. */
const shown = async (node: ContainerdNode, pod: string) => {
  const { conditions = [], containerStatuses: [first] = [] } = (await node.podStatus(pod)) ?? {};
  const isTrue = (wanted: string) => conditions.find(({ type }) => type === wanted)?.status;
  return {
    ready: first?.ready,
    started: first?.started,
    restarts: first?.restartCount,
    pod: isTrue('Ready'),
    containers: isTrue('ContainersReady'),
  };
};
const isReady = (node: ContainerdNode, pod: string): Promise<true> =>
  eventually(`${pod} is ready`, async () => {
    expect(await shown(node, pod)).toMatchObject({ ready: true, started: true, pod: 'True', containers: 'True' });
    return true;
  });
const isNotReady = (node: ContainerdNode, pod: string): Promise<true> =>
  eventually(`${pod} is not ready`, async () => {
    expect(await shown(node, pod)).toMatchObject({ ready: false, started: true, pod: 'False', containers: 'False' });
    return true;
  });

overContainerd('a readiness probe', () => {
  it('by a command is the word of the container, back and forth', async ({ node }) => {
    const readinessProbe = { ...EAGER, ...exec('echo no $(MOOD) yet; test -f /tmp/ready') };
    node.apply({ name: 'moody', containers: [{ readinessProbe, env: [{ name: 'MOOD', value: 'mood' }] }] });
    const { id } = await node.reached('moody', 'CONTAINER_RUNNING');
    await isNotReady(node, 'moody');
    await eventually('it is reported', () =>
      eventsOf(node, 'moody').includes('Warning Unhealthy Readiness probe failed: no mood yet\n'),
    );
    await node.exec(id, 'touch', '/tmp/ready');
    await isReady(node, 'moody');
    await node.exec(id, 'rm', '/tmp/ready');
    await isNotReady(node, 'moody');
    await eventually('the story has it', async () => {
      const story = await why(node, 'moody');
      expect(story).toMatch(/main runs for .*, is not ready: its readiness probe fails since .*: no mood yet\n/);
      expect(story).toContain('the readiness probe of main failed: no mood yet\n');
      return true;
    });
    expect(await node.status(id)).toMatchObject({ state: 'CONTAINER_RUNNING' });
    expect(await node.containersOf('moody')).toHaveLength(1);
  });

  it('by a command that takes too long says so, and ends it', async ({ node }) => {
    const readinessProbe = { ...EAGER, timeoutSeconds: 1, exec: { command: ['sleep', '2147'] } };
    node.apply({ name: 'late', containers: [{ readinessProbe }] });
    const { id } = await node.reached('late', 'CONTAINER_RUNNING');
    const message = 'Readiness probe failed: command timed out: "sleep 2147" timed out after 1s';
    await eventually('it is reported', () => eventsOf(node, 'late').includes(`Warning Unhealthy ${message}`));
    node.delete('late.yaml');
    // What has ended may be removed already.
    await eventually('it has ended', async () =>
      (await node.containers()).every((one) => one.id !== id || one.state === 'CONTAINER_EXITED'),
    );
  });

  it('by a command that the container does not have is an error of its own', async ({ node }) => {
    node.apply({
      name: 'wordless',
      containers: [{ readinessProbe: { ...EAGER, exec: { command: ['/no/such/file'] } } }],
    });
    await node.reached('wordless', 'CONTAINER_RUNNING');
    await eventually('it is reported', () =>
      eventsOf(node, 'wordless').some(
        (event) =>
          event.startsWith('Warning Unhealthy Readiness probe errored and resulted in unknown state: ') &&
          event.includes('/no/such/file'),
      ),
    );
    await isNotReady(node, 'wordless');
  });

  it('over HTTP finds the server of the pod by the name of its port', async ({ node }) => {
    node.apply({
      name: 'web',
      containers: [
        {
          script: serving(8080),
          ports: [{ name: 'http', containerPort: 8080 }],
          readinessProbe: { ...EAGER, httpGet: { port: 'http', path: '/index.html' } },
        },
      ],
    });
    const { id } = await node.reached('web', 'CONTAINER_RUNNING');
    await isReady(node, 'web');
    await node.exec(id, 'mv', '/tmp/www/index.html', '/tmp/away');
    await isNotReady(node, 'web');
    await eventually('it is reported', () =>
      eventsOf(node, 'web').includes(
        'Warning Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 404',
      ),
    );
    await node.exec(id, 'mv', '/tmp/away', '/tmp/www/index.html');
    await isReady(node, 'web');
  });

  it('over HTTP reports that no process listens, with the address of the pod', async ({ node }) => {
    node.apply({ name: 'closed', containers: [{ readinessProbe: { ...EAGER, httpGet: { port: 81, path: '/up' } } }] });
    await node.reached('closed', 'CONTAINER_RUNNING');
    const at = `${await node.addressOf('closed')}:81`;
    await eventually('it is reported', () =>
      eventsOf(node, 'closed').includes(
        `Warning Unhealthy Readiness probe failed: Get "http://${at}/up": dial tcp ${at}: connect: connection refused`,
      ),
    );
    await isNotReady(node, 'closed');
  });

  it('over TCP waits until a process listens', async ({ node }) => {
    const script = `until [ -f /tmp/open ]; do sleep 0.1; done; exec nc -ll -p 9000 -e true`;
    node.apply({ name: 'slow', containers: [{ script, readinessProbe: { ...EAGER, tcpSocket: { port: 9000 } } }] });
    const { id } = await node.reached('slow', 'CONTAINER_RUNNING');
    await isNotReady(node, 'slow');
    const at = `${await node.addressOf('slow')}:9000`;
    await eventually('it is reported', () =>
      eventsOf(node, 'slow').includes(
        `Warning Unhealthy Readiness probe failed: dial tcp ${at}: connect: connection refused`,
      ),
    );
    await node.exec(id, 'touch', '/tmp/open');
    await isReady(node, 'slow');
  });
});

overContainerd('a liveness probe', () => {
  it('that fails restarts the container, within the grace of the probe', async ({ node }) => {
    const livenessProbe = { ...EAGER, terminationGracePeriodSeconds: 1, ...exec('test ! -f /tmp/sick') };
    // Were it the grace of the pod, this test would not see the end of it.
    const script = `trap '' TERM; echo up; while :; do sleep 0.1; done`;
    node.apply({ name: 'sick', terminationGracePeriodSeconds: 3600, containers: [{ script, livenessProbe }] });
    const first = await node.reached('sick', 'CONTAINER_RUNNING');
    await eventually('it is deaf', () => node.output(first).includes('up'));
    await node.exec(first.id, 'touch', '/tmp/sick');
    const second = await node.reached('sick', 'CONTAINER_RUNNING', { attempt: 1 });
    expect(second.id).not.toBe(first.id);
    expect(await node.status(first.id)).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 137 });
    const events = eventsOf(node, 'sick');
    expect(events).toContain('Normal Killing Container main failed liveness probe, will be restarted');
    expect(events.some((event) => event.startsWith('Warning Unhealthy Liveness probe failed'))).toBe(true);
    await eventually('it is shown, ready again', async () => {
      expect(await shown(node, 'sick')).toMatchObject({ restarts: 1, ready: true, pod: 'True' });
      return true;
    });
    await eventually('the story has it', async () => {
      // Its verdict has begun the pass, or was found by one that had begun already.
      expect(await why(node, 'sick')).toMatch(/the liveness probe of main failed|its liveness probe failed/);
      return true;
    });
    // The new one is healthy, and its pod may not take an hour to go.
    await node.exec(second.id, 'sh', '-c', 'kill -9 $(pidof sh) || true').catch(() => undefined);
    node.delete('sick.yaml');
  });

  it('that succeeds leaves the container alone', async ({ node }) => {
    const livenessProbe = { ...EAGER, ...exec('echo x >> /tmp/probes') };
    node.apply({ name: 'healthy', containers: [{ livenessProbe }] });
    const { id } = await node.reached('healthy', 'CONTAINER_RUNNING');
    await eventually(
      'it was asked a few times',
      async () => (await node.exec(id, 'cat', '/tmp/probes').catch(() => '')).split('\n').length >= 4,
    );
    await isReady(node, 'healthy');
    expect(await node.containersOf('healthy')).toMatchObject([{ id, attempt: 0, state: 'CONTAINER_RUNNING' }]);
  });
});

overContainerd('a startup probe', () => {
  it('holds back the others until it succeeds, and is not asked again', async ({ node }) => {
    node.apply({
      name: 'starting',
      containers: [
        {
          startupProbe: { ...EAGER, failureThreshold: 1000, ...exec('echo x >> /tmp/startup; test -f /tmp/started') },
          livenessProbe: { ...EAGER, ...exec('echo x >> /tmp/liveness') },
          readinessProbe: { ...EAGER, ...exec('echo x >> /tmp/readiness') },
        },
      ],
    });
    const { id } = await node.reached('starting', 'CONTAINER_RUNNING');
    const asked = async (name: string): Promise<number> =>
      Number(await node.exec(id, 'sh', '-c', `cat /tmp/${name} 2>/dev/null | wc -l`));
    await eventually('it was asked a few times', async () => (await asked('startup')) >= 3);
    expect([await asked('liveness'), await asked('readiness')]).toEqual([0, 0]);
    expect(await shown(node, 'starting')).toMatchObject({ started: false, ready: false, pod: 'False' });
    await node.exec(id, 'touch', '/tmp/started');
    await isReady(node, 'starting');
    const startups = await asked('startup');
    await eventually(
      'the others are asked',
      async () => (await asked('liveness')) >= 3 && (await asked('readiness')) >= 3,
    );
    expect(await asked('startup')).toBe(startups);
    expect(await node.containersOf('starting')).toHaveLength(1);
  });

  it('that keeps failing restarts the container', async ({ node }) => {
    const startupProbe = { ...EAGER, failureThreshold: 2, ...exec('false') };
    node.apply({ name: 'never', containers: [{ startupProbe }] });
    await node.reached('never', 'CONTAINER_RUNNING', { attempt: 1 });
    const events = eventsOf(node, 'never');
    expect(events).toContain('Normal Killing Container main failed startup probe, will be restarted');
    expect(events.filter((event) => event.startsWith('Warning Unhealthy Startup')).length).toBeGreaterThanOrEqual(2);
    node.delete('never.yaml');
  });
});

overContainerd('an agent that is killed', () => {
  onOwnNode('leaves ready what was ready, before it has asked again', async ({ node }) => {
    // From then on, its answers never end.
    const readinessProbe = {
      ...EAGER,
      timeoutSeconds: 3600,
      ...exec('if [ -f /tmp/slow ]; then touch /tmp/asked; exec sleep 2147; fi; echo x >> /tmp/probes'),
    };
    node.apply({ name: 'steady', containers: [{ readinessProbe }] });
    node.apply({ name: 'unready', containers: [{ readinessProbe: { ...EAGER, ...exec('false') } }] });
    await node.start();
    const { id } = await node.reached('steady', 'CONTAINER_RUNNING');
    await Promise.all([isReady(node, 'steady'), isNotReady(node, 'unready')]);
    // What an agent knows is written down within a second.
    const asked = async () => (await node.exec(id, 'cat', '/tmp/probes')).split('\n').length;
    const before = await asked();
    await eventually('it was asked a few times more', async () => (await asked()) >= before + 3);
    await node.kill('SIGKILL');
    await node.exec(id, 'touch', '/tmp/slow');
    await node.start();
    await eventually('it is asked again', () => node.exec(id, 'test', '-f', '/tmp/asked').then(() => true));
    await isReady(node, 'steady');
    await isNotReady(node, 'unready');
    const transitions = node
      .journal()
      .flatMap((entry) =>
        entry.kind === 'event' && entry.reason === 'Unhealthy' && entry.pod?.name === `steady-${NODE_NAME}`
          ? [entry.message]
          : [],
      );
    expect(transitions).toEqual([]);
    expect(await node.containersOf('steady')).toMatchObject([{ id, attempt: 0 }]);
  });
});

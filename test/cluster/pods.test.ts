import { expect } from 'vitest';
import { configMapsPath } from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { BUSYBOX, NAMED, SERVER } from '../containerd/containerd-node.js';
import { eventually } from '../embedded/eventually.js';
import { type ApiNode, conditionOf, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const it = onNode('pods');
const ID = /^containerd:\/\/[0-9a-f]{64}$/;

overCluster('a pod', () => {
  it('is shown as running, with everything that there is to say of it', async ({ node }) => {
    const created = await node.create({
      name: 'plain',
      containers: [{ resources: { requests: { cpu: '10m' }, limits: { memory: '64Mi' } } }],
    });
    const { status } = await node.running('plain');
    const { status: ofNode } = (await node.node()) as ApiNode;
    const hostIP = ofNode.addresses.find(({ type }) => type === 'InternalIP')?.address;
    expect(status).toMatchObject({
      phase: 'Running',
      qosClass: 'Burstable',
      hostIP,
      podIP: expect.stringMatching(/^10\./) as string,
      podIPs: [{ ip: status?.podIP }],
      containerStatuses: [
        {
          name: 'main',
          image: BUSYBOX,
          imageID: expect.stringMatching(/sha256:/) as string,
          containerID: expect.stringMatching(ID) as string,
          ready: true,
          started: true,
          restartCount: 0,
          lastState: {},
          state: { running: { startedAt: expect.any(String) as string } },
        },
      ],
    });
    expect(Date.parse(status?.startTime ?? '')).toBeGreaterThanOrEqual(
      Date.parse(created.metadata.creationTimestamp ?? ''),
    );
    for (const type of ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled']) {
      expect(status?.conditions?.find((one) => one.type === type)).toMatchObject({ status: 'True' });
    }
  });

  it('ends as its containers end', async ({ node }) => {
    const say = (code: number) => `echo the end > /dev/termination-log; exit ${code}`;
    const code = { configMapKeyRef: { name: 'code', key: 'code' } };
    await node.admin.create(configMapsPath('pods'), { metadata: { name: 'code' }, data: { code: '1' } });
    await Promise.all([
      node.create({ name: 'job', restartPolicy: 'Never', containers: [{ script: say(0) }] }),
      node.create({ name: 'failed-job', restartPolicy: 'Never', containers: [{ script: say(3) }] }),
      node.create({
        name: 'retried-job',
        restartPolicy: 'OnFailure',
        containers: [{ script: 'exit "$CODE"', env: [{ name: 'CODE', valueFrom: code }] }],
      }),
    ]);
    await node.shown('retried-job', 'has failed once', (pod) => containerOf(pod).lastState?.terminated?.exitCode === 1);
    await node.admin.patch(`${configMapsPath('pods')}/code`, { data: { code: '0' } });
    const [job, failed, retried] = await Promise.all([
      node.ended('job', 'Succeeded'),
      node.ended('failed-job', 'Failed'),
      node.ended('retried-job', 'Succeeded'),
    ]);
    expect(containerOf(job)).toMatchObject({
      ready: false,
      started: false,
      state: {
        terminated: {
          exitCode: 0,
          reason: 'Completed',
          message: 'the end\n',
          containerID: containerOf(job).containerID,
        },
      },
    });
    expect(job.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'PodCompleted',
    });
    expect(containerOf(failed)).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 3, reason: 'Error', message: 'the end\n' } },
    });
    expect(containerOf(retried)).toMatchObject({
      state: { terminated: { exitCode: 0 } },
      lastState: { terminated: { exitCode: 1 } },
    });
    expect(containerOf(retried).restartCount).toBeGreaterThanOrEqual(1);
  });

  it('is pending while its init containers run, one after the other', async ({ node }) => {
    const script = 'while [ ! -e /tmp/end ]; do sleep 0.1; done';
    const initContainers = [
      { name: 'one', script },
      { name: 'two', script },
    ];
    await node.create({ name: 'inits', initContainers });
    const runs = (name: string): Promise<Pod> =>
      node.shown('inits', `runs ${name}`, (pod) => containerOf(pod, name).state?.running !== undefined);
    const end = async (name: string): Promise<void> => {
      const [newest] = await node.containersNamed('inits', name);
      await node.letGo(newest?.id ?? '', '/tmp/end');
    };
    const first = await runs('one');
    expect(first.status?.phase).toBe('Pending');
    expect(first.status?.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [one two]',
    });
    for (const name of ['two', 'main']) {
      expect(containerOf(first, name).state?.waiting?.reason).toBe('PodInitializing');
    }
    await end('one');
    const second = await runs('two');
    expect(containerOf(second, 'one').state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(second.status?.phase).toBe('Pending');
    expect(conditionOf(second, 'Initialized')).toBe('False');
    expect(containerOf(second).state?.waiting?.reason).toBe('PodInitializing');
    await end('two');
    const pod = await node.running('inits');
    expect(containerOf(pod, 'two').state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(conditionOf(pod, 'Initialized')).toBe('True');
  });

  it('fails with its init container', async ({ node }) => {
    await node.create({
      name: 'bad-init',
      restartPolicy: 'Never',
      initContainers: [{ name: 'one', script: 'exit 4' }],
    });
    const pod = await node.ended('bad-init', 'Failed');
    expect(containerOf(pod, 'one').state?.terminated).toMatchObject({ exitCode: 4, reason: 'Error' });
    expect(containerOf(pod).state?.waiting).toMatchObject({ reason: 'PodInitializing' });
    expect(conditionOf(pod, 'Initialized')).toBe('False');
  });

  it('is shown container by container', async ({ node }) => {
    await node.create({
      name: 'several',
      containers: [
        { name: 'steady' },
        {
          name: 'web',
          image: SERVER,
          command: undefined,
          readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
        },
        { name: 'named', image: NAMED, command: ['sh', '-c', 'sleep 1; exit 6'] },
      ],
    });
    const pod = await node.shown('several', 'has restarted one of them', (pod) => {
      expect(containerOf(pod, 'named').restartCount).toBeGreaterThanOrEqual(2);
      expect(containerOf(pod, 'web')).toMatchObject({ ready: true });
    });
    expect(containerOf(pod, 'named').lastState?.terminated).toMatchObject({ exitCode: 6, reason: 'Error' });
    expect(containerOf(pod, 'steady')).toMatchObject({ ready: true, restartCount: 0, state: { running: {} } });
    expect(pod.status?.phase).toBe('Running');
  });

  it('says that it backs off while it keeps crashing', async ({ node }) => {
    await node.create({ name: 'crash', containers: [{ script: 'exit 9' }] });
    const pod = await node.shown('crash', 'is in a crash loop', (pod) => {
      expect(containerOf(pod).restartCount).toBeGreaterThanOrEqual(2);
      expect(containerOf(pod).state?.waiting?.reason).toBe('CrashLoopBackOff');
    });
    expect(containerOf(pod)).toMatchObject({
      ready: false,
      state: {
        waiting: { message: expect.stringContaining('restarting failed container=main pod=crash_pods(') as string },
      },
      lastState: { terminated: { exitCode: 9, reason: 'Error' } },
    });
    expect(pod.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    });
  });

  it('is ready when its probe and its gates say so', async ({ node }) => {
    const exec = { command: ['sh', '-c', 'test -e /tmp/ready'] };
    await node.create({
      name: 'gated',
      readinessGates: [{ conditionType: 'example.com/open' }],
      containers: [
        { script: 'sleep 1; touch /tmp/ready; exec sleep 1000', readinessProbe: { exec, periodSeconds: 1 } },
      ],
    });
    const closed = await node.shown(
      'gated',
      'has ready containers',
      (pod) => conditionOf(pod, 'ContainersReady') === 'True',
    );
    expect(closed.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ReadinessGatesNotReady',
    });
    const open = { type: 'example.com/open', status: 'True' };
    await node.admin.patch(`${node.path('gated')}/status`, { status: { conditions: [open] } });
    const pod = await node.running('gated');
    // Conditions of other writers stay.
    expect(pod.status?.conditions).toContainEqual(expect.objectContaining(open));
  });
});

overCluster('a change of a pod', () => {
  it('of its labels leaves its containers alone, of an image replaces one', async ({ node }) => {
    await node.create({ name: 'changed', containers: [{}, { name: 'other' }] });
    const before = await node.running('changed');
    await node.admin.patch(node.path('changed'), {
      metadata: { labels: { tier: 'two' }, annotations: { note: 'new' } },
    });
    await node.admin.patch(node.path('changed'), { spec: { containers: [{ name: 'main', image: NAMED }] } });
    const after = await node.shown('changed', 'has the new image', (pod) => {
      expect(containerOf(pod)).toMatchObject({ image: NAMED, restartCount: 1, state: { running: {} } });
      expect(conditionOf(pod, 'Ready')).toBe('True');
    });
    expect(containerOf(after).lastState?.terminated?.containerID).toBe(containerOf(before).containerID);
    expect(containerOf(after, 'other')).toEqual(containerOf(before, 'other'));
    expect(after.status?.podIP).toBe(before.status?.podIP);
  });

  it('may be a deadline, at which it fails', async ({ node }) => {
    await node.create({ name: 'late' });
    await node.running('late');
    await node.admin.patch(node.path('late'), { spec: { activeDeadlineSeconds: 1 } });
    const pod = await node.ended('late', 'Failed');
    expect(pod.status?.reason).toBe('DeadlineExceeded');
    await node.shown('late', 'has ended', (pod) => containerOf(pod).state?.terminated !== undefined);
  });
});

overCluster('a deletion', () => {
  it('lets a pod end by itself, reports its end, and finishes', async ({ node }) => {
    const script = "trap 'sleep 1; exit 5' TERM; touch /tmp/up; while :; do sleep 0.1; done";
    await node.create({ name: 'polite', terminationGracePeriodSeconds: 120, containers: [{ script }] });
    await node.create({
      name: 'deaf',
      terminationGracePeriodSeconds: 2,
      containers: [{ script: "trap '' TERM; while :; do sleep 0.1; done" }],
    });
    await Promise.all([node.running('polite'), node.running('deaf')]);
    const [container] = await node.containersNamed('polite');
    await eventually('it listens to signals', () => node.exec(container?.id ?? '', 'test', '-e', '/tmp/up'));
    const watched = await node.admin.watch<Pod>('/api/v1/namespaces/pods/pods');
    await Promise.all([node.admin.remove(node.path('polite')), node.admin.remove(node.path('deaf'))]);
    await Promise.all([node.gone('polite'), node.gone('deaf')]);
    const lastOf = (name: string): Promise<Pod> =>
      eventually(
        `the watch shows the end of ${name}`,
        () => watched.events.find(({ type, object }) => type === 'DELETED' && object.metadata.name === name)?.object,
      );
    const [polite, deaf] = [await lastOf('polite'), await lastOf('deaf')];
    watched.close();
    expect(polite.metadata.deletionTimestamp).toBeDefined();
    expect(containerOf(polite).state?.terminated).toMatchObject({ exitCode: 5, reason: 'Error' });
    expect(polite.status?.phase).toBe('Failed');
    expect(containerOf(deaf).state?.terminated).toMatchObject({ exitCode: 137 });
  });

  it('by force makes room for a new pod of the same name at once', async ({ node }) => {
    await node.create({
      name: 'forced',
      terminationGracePeriodSeconds: 1000,
      containers: [{ script: "trap '' TERM; while :; do sleep 0.1; done" }],
    });
    const before = await node.running('forced');
    await node.admin.remove(node.path('forced'), 0);
    await node.gone('forced');
    await node.create({ name: 'forced' });
    const after = await node.running('forced');
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(containerOf(after)).toMatchObject({ restartCount: 0 });
    expect(containerOf(after).containerID).not.toBe(containerOf(before).containerID);
  });

  it('of a pod whose containers cannot start finishes, too', async ({ node }) => {
    await node.create({ name: 'no-image', containers: [{ image: 'stage.test/none:1', imagePullPolicy: 'Never' }] });
    await node.shown(
      'no-image',
      'lacks its image',
      (pod) => containerOf(pod).state?.waiting?.reason === 'ErrImageNeverPull',
    );
    await node.admin.remove(node.path('no-image'));
    await node.gone('no-image');
  });

  it('waits for finalizers, and keeps the last status', async ({ node }) => {
    await node.create({ name: 'held' });
    await node.admin.patch(node.path('held'), { metadata: { finalizers: ['example.com/hold'] } }, 'merge');
    await node.running('held');
    await node.admin.remove(node.path('held'));
    await node.shown('held', 'has ended', (pod) => containerOf(pod).state?.terminated?.exitCode === 0);
    await node.admin.patch(node.path('held'), { metadata: { finalizers: null } }, 'merge');
    await node.gone('held');
  });
});

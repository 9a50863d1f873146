import { expect } from 'vitest';
import { configMapsPath, secretsPath, servicesPath } from '../../src/model/kube-api/api-paths.js';
import { freeHostPort } from '../containerd/host-port.js';
import { eventually } from '../embedded/eventually.js';
import { type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const it = onNode('inputs');

/** Ends with the values of these variables as its termination message. */
const saying = (...names: readonly string[]): string =>
  `printf '%s ' ${names.map((name) => `"$${name}"`).join(' ')} > /dev/termination-log`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const configMap = (node: ClusterNode, name: string, data: Readonly<Record<string, string>>) =>
  node.admin.create(configMapsPath('inputs'), { metadata: { name }, data });

overCluster('the variables of a container', () => {
  it('come from ConfigMaps, Secrets, Services, the pod and the node', async ({ node }) => {
    await configMap(node, 'settings', { colour: 'green', size: 'big' });
    await node.admin.create(secretsPath('inputs'), {
      metadata: { name: 'keys' },
      data: { password: base64('pass word') },
    });
    await node.admin.create(servicesPath('inputs'), { metadata: { name: 'shop' }, spec: { ports: [{ port: 8123 }] } });
    await node.create({
      name: 'env',
      restartPolicy: 'Never',
      containers: [
        {
          script: saying('COLOUR', 'SET_size', 'KEY', 'MISSING', 'POD', 'HOST', 'IP', 'SHOP_SERVICE_PORT'),
          envFrom: [{ prefix: 'SET_', configMapRef: { name: 'settings' } }],
          env: [
            { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
            { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'password' } } },
            { name: 'MISSING', valueFrom: { secretKeyRef: { name: 'none', key: 'none', optional: true } } },
            { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
            { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          ],
        },
      ],
    });
    const pod = await node.ended('env', 'Succeeded');
    expect(containerOf(pod).state?.terminated?.message).toBe(
      `green big pass word  env inputs ${pod.status?.podIP ?? ''} 8123 `,
    );
  });

  it('are waited for while what they come from is not there', async ({ node }) => {
    const env = [{ name: 'LATE', valueFrom: { configMapKeyRef: { name: 'late', key: 'value' } } }];
    await node.create({ name: 'waits', restartPolicy: 'Never', containers: [{ script: saying('LATE'), env }] });
    await node.shown('waits', 'says what it waits for', (pod) => {
      expect(containerOf(pod).state?.waiting).toEqual({
        reason: 'CreateContainerConfigError',
        message: 'configmap "late" not found',
      });
    });
    await configMap(node, 'late', { value: 'here' });
    const pod = await node.ended('waits', 'Succeeded');
    expect(containerOf(pod).state?.terminated?.message).toBe('here ');
  });

  it('are those of the moment when a container starts', async ({ node }) => {
    await configMap(node, 'moving', { value: 'one' });
    const env = [{ name: 'MOVING', valueFrom: { configMapKeyRef: { name: 'moving', key: 'value' } } }];
    await node.create({ name: 'moves', containers: [{ script: `${saying('MOVING')}; sleep 1; exit 1`, env }] });
    const lastWords = (words: string) =>
      node.shown('moves', `says ${words}`, (pod) => {
        const { state, lastState } = containerOf(pod);
        return [state, lastState].some((one) => one?.terminated?.message === words);
      });
    await lastWords('one ');
    await node.admin.patch(`${configMapsPath('inputs')}/moving`, { data: { value: 'two' } });
    await lastWords('two ');
  });
});

overCluster('a pod that the node cannot have', () => {
  it.for([
    ['that wants another node', { nodeSelector: { disk: 'none' } }, 'NodeAffinity', /node affinity\/selector/],
    [
      'that wants more than there is',
      { containers: [{ resources: { requests: { cpu: '10000' } } }] },
      'OutOfcpu',
      /Node didn't have enough resource: cpu, requested: 10000000, used: \d+, capacity: \d+/,
    ],
    [
      'that wants to be anywhere but here',
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['inputs'] }] },
              ],
            },
          },
        },
      },
      'NodeAffinity',
      /node affinity\/selector/,
    ],
  ] as const)('%s fails at once', async ([what, spec, reason, message], { node }) => {
    const name = `rejected-${what.replaceAll(/\W+/g, '-')}`;
    const { metadata } = await node.create({ name, ...(spec as object) });
    const pod = await node.ended(name, 'Failed');
    expect(pod.status).toMatchObject({
      reason,
      message: expect.stringMatching(message) as string,
      startTime: expect.any(String) as string,
    });
    // Nothing of it was ever started.
    expect((pod.status?.containerStatuses ?? []).every(({ containerID }) => !containerID)).toBe(true);
    await eventually('there is an event of it', async () =>
      (await node.eventsOf(metadata.uid)).some((event) => event.reason === reason && event.type === 'Warning'),
    );
  });

  it('since another has the port of the host, fails', async ({ node }) => {
    const containers = [{ ports: [{ containerPort: 80, hostPort: await freeHostPort() }] }];
    await node.create({ name: 'port-one', containers });
    await node.running('port-one');
    await node.create({ name: 'port-two', containers });
    expect((await node.ended('port-two', 'Failed')).status).toMatchObject({ reason: 'NodePorts' });
    // There is room again.
    await node.admin.remove(node.path('port-one'));
    await node.gone('port-one');
    await node.create({ name: 'port-three', containers });
    await node.running('port-three');
  });
});

overCluster('events', () => {
  it('report what became of a pod, in order, from this node', async ({ node }) => {
    const { metadata } = await node.create({ name: 'told' });
    await node.running('told');
    await node.admin.remove(node.path('told'));
    await node.gone('told');
    const events = await eventually('all has been reported', async () => {
      const events = await node.eventsOf(metadata.uid);
      return events.some(({ reason }) => reason === 'Killing') ? events : undefined;
    });
    expect(events.map(({ reason }) => reason)).toEqual(['Pulled', 'Created', 'Started', 'Killing']);
    for (const event of events) {
      expect(event).toMatchObject({
        type: 'Normal',
        count: 1,
        source: { component: 'kubelet', host: 'inputs' },
        involvedObject: { kind: 'Pod', name: 'told', fieldPath: 'spec.containers{main}' },
      });
    }
    expect(events[0]?.message).toContain('Container image "stage.test/busybox:1" already present on machine');
  });

  it('of the same are one that is counted', async ({ node }) => {
    const { metadata } = await node.create({ name: 'repeats', containers: [{ script: 'exit 1' }] });
    const [back] = await eventually('it was reported three times', async () => {
      const events = await node.eventsOf(metadata.uid);
      const same = events.filter(({ reason, count = 1 }) => reason === 'BackOff' && count >= 3);
      return same.length > 0 && same;
    });
    expect(back).toMatchObject({ type: 'Warning' });
    expect((await node.eventsOf(metadata.uid)).filter(({ reason }) => reason === 'BackOff')).toHaveLength(1);
  });
});

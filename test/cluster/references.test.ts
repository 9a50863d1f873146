import { expect } from 'vitest';
import { configMapsPath, runtimeClassesPath, secretsPath } from '../../src/model/kube-api/api-paths.js';
import { lastKnownKey } from '../../src/model/references/last-known-key.js';
import { eventually } from '../embedded/eventually.js';
import { type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { itOnOwnServer } from './own-server.js';

const NODE = 'referring';
const SETTINGS = lastKnownKey('ConfigMap', NODE, 'settings');
const KEYS = lastKnownKey('Secret', NODE, 'keys');

/** A node of a cluster whose API server is of this file alone. */
const it = itOnOwnServer(NODE, async ({ admin }) => {
  const data = { COLOUR: 'green' };
  await admin.create(configMapsPath(NODE), { metadata: { name: 'settings' }, data });
  await admin.create(secretsPath(NODE), { metadata: { name: 'keys' }, data: { WORD: btoa('mum') } });
});

const RENEWED_MS = 240_000;

const settings = { configMapRef: { name: 'settings' } };
const keys = { secretRef: { name: 'keys' } };
/** Ends once a file is there, with its variables as its termination message. */
const script = `while [ ! -e /tmp/end ]; do sleep 0.1; done; echo "$COLOUR $WORD $KUBERNETES_SERVICE_PORT" > /dev/termination-log; exit 1`;

/** Lets an instance of the pod's container leave, once it runs. */
const leave = async (node: ClusterNode, pod: string, attempt: number): Promise<void> => {
  const running = await eventually(`${pod} runs, started ${attempt} times again`, async () => {
    const [newest] = await node.containersNamed(pod);
    return newest?.state === 'CONTAINER_RUNNING' && newest.attempt === attempt ? newest : undefined;
  });
  await node.letGo(running.id, '/tmp/end');
};

const references = (): void => {
  it('are known to an agent that starts while the API server is away', async ({ node }) => {
    await node.create({ name: 'remembers', containers: [{ script, envFrom: [settings, keys] }] });
    await node.running('remembers');
    await node.remembers('remembers', SETTINGS, KEYS, lastKnownKey('ServiceList', '', ''));
    await node.cluster.outage(async () => {
      await node.kill('SIGKILL');
      await node.startAway();
      await leave(node, 'remembers', 0);
      // The instance that is started now has nothing but what the agent before knew.
      await leave(node, 'remembers', 1);
      await node.restarted('remembers', 2);
    });
    await node.shown('remembers', 'reports what it had', (pod) => {
      expect(containerOf(pod).lastState?.terminated?.message).toBe('green mum 443\n');
    });
  });

  it('stay in the files of a container while the API server is away, also for an agent that starts meanwhile', async ({
    node,
  }) => {
    const sources = [
      { configMap: { name: 'settings' } },
      { secret: { name: 'keys' } },
      { serviceAccountToken: { path: 'token' } },
    ];
    await node.create({
      name: 'files',
      volumes: [
        { name: 'all', projected: { sources } },
        { name: 'config', configMap: { name: 'settings' } },
        { name: 'secret', secret: { secretName: 'keys' } },
      ],
      containers: [{ volumeMounts: ['all', 'config', 'secret'].map((name) => ({ name, mountPath: `/${name}` })) }],
    });
    const { metadata } = await node.running('files');
    const [container] = await node.containersNamed('files');
    const content = () =>
      node.exec(container?.id ?? '', 'sh', '-c', 'grep -r "" /all/..data/ /config/..data/ /secret/..data/ | sort');
    const before = await content();
    for (const line of ['/all/..data/COLOUR:green', '/config/..data/COLOUR:green', '/secret/..data/WORD:mum'])
      expect(before).toContain(line);
    expect(before).toMatch(/^\/all\/\.\.data\/token:\w+\.\w+\.\S+$/m);
    await node.remembers('files', SETTINGS, KEYS);
    await node.cluster.outage(async () => {
      expect(await content()).toBe(before);
      await node.kill('SIGKILL');
      const entries = node.journal().length;
      await node.startAway();
      // The new agent has neither a token nor a way to one, and has all the rest from the agent before.
      const outcomes = await eventually('it has attempted to set up each volume', () => {
        const ofPod = node.journal().slice(entries);
        const outcomes = ofPod.flatMap((entry) =>
          entry.kind === 'volume' && entry.pod?.uid === metadata.uid ? [[entry.volume, entry.error === undefined]] : [],
        );
        return new Set(outcomes.map(([volume]) => volume)).size === 3 && new Map(outcomes as [string, boolean][]);
      });
      expect(Object.fromEntries(outcomes)).toEqual({ all: false, config: true, secret: true });
      expect(await content()).toBe(before);
    });
    await node.running('files');
    // With a sync of the pod, which comes every minute or so.
    await eventually('the token is renewed', async () => (await content()) !== before, RENEWED_MS);
    expect(await node.containersNamed('files')).toMatchObject([{ id: container?.id, state: 'CONTAINER_RUNNING' }]);
  });

  it('are not known as far as they are secret, where secrets are not kept', async ({ node }) => {
    await node.kill('SIGKILL');
    await node.startAway('--last-known-state', 'without-secrets');
    await node.create({ name: 'open', containers: [{ script, envFrom: [settings] }] });
    await node.create({ name: 'secret', containers: [{ script, envFrom: [keys] }] });
    await Promise.all(['open', 'secret'].map((name) => node.running(name)));
    await node.remembers('open', 'secret', SETTINGS);
    await node.cluster.outage(async () => {
      await node.kill('SIGKILL');
      await node.startAway('--last-known-state', 'without-secrets');
      await leave(node, 'secret', 0);
      await node.containerHasEnded('secret');
      for (const attempt of [0, 1]) await leave(node, 'open', attempt);
      await node.restarted('open', 2);
      expect(await node.containersNamed('secret')).toMatchObject([{ attempt: 0, state: 'CONTAINER_EXITED' }]);
    });
    await node.shown('secret', 'runs again', (pod) => containerOf(pod).restartCount === 1);
  });

  it('are classes of the runtime, too', async ({ node }) => {
    const classes = { plain: 'runc', odd: 'no-such-handler' };
    for (const [name, handler] of Object.entries(classes))
      await node.admin.create(runtimeClassesPath(), { metadata: { name }, handler });
    await node.create({ name: 'classy', runtimeClassName: 'plain' });
    const { metadata } = await node.create({ name: 'odd', runtimeClassName: 'odd' });
    await node.running('classy');
    // An agent that has not seen the class yet says so first.
    await eventually('an event says that the runtime has no such handler', async () =>
      (await node.eventsOf(metadata.uid)).some(
        ({ reason, message }) =>
          reason === 'FailedCreatePodSandBox' && /^Failed to create pod sandbox: .*no-such-handler/.test(message ?? ''),
      ),
    );
  });
};
// They take the server away from each other.
overCluster('what pods refer to', references, { alone: true });

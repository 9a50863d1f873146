import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { type ContainerdNode, it as onOwnNode, SERVER, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode(undefined, { keptPods: /^/ });

/** Says `term` when it is asked to stop, and stops. What a hook writes to this output stands in the log, too. */
const SAYS_TERM = "trap 'echo term; exit 0' TERM; echo up; while :; do sleep 2147483 & wait $!; done";
const OUTPUT = '/proc/1/fd/1';
const shell = (script: string) => ({ exec: { command: ['sh', '-c', script] } });

const eventsOf = (node: ContainerdNode, pod: string): readonly string[] =>
  node
    .journal()
    .filter((entry) => entry.pod?.name.startsWith(`${pod}-`))
    .flatMap((entry) =>
      entry.kind === 'event' ? [`${entry.container ?? 'pod'}: ${entry.type} ${entry.reason} ${entry.message}`] : [],
    );

/** The container, once it runs and its shell is ready for signals. */
const up = async (node: ContainerdNode, pod: string) => {
  const status = await node.reached(pod, 'CONTAINER_RUNNING');
  await eventually(`${pod} is up`, () => node.output(status).includes('up'));
  node.keepLog(status);
  return status;
};
const stopped = async (node: ContainerdNode, pod: string) => {
  node.delete(`${pod}.yaml`);
  return node.reached(pod, 'CONTAINER_EXITED');
};

/** A server on this machine that answers everything with status 500, and what it was asked. */
const listener = async (node: ContainerdNode) => {
  const asked: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push({ url, headers });
    response.writeHead(500).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  node.beforeDispose(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { asked, at: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
};

overContainerd('a postStart hook', () => {
  it('that is a command runs in the container, before the next one starts', async ({ node }) => {
    const lifecycle = { postStart: shell('sleep 1; echo hooked >> /dev/shm/order') };
    node.apply({
      name: 'ordered',
      containers: [{ lifecycle }, { name: 'other', script: `echo other >> /dev/shm/order; ${WAIT}` }],
    });
    const { id } = await node.reached('ordered', 'CONTAINER_RUNNING', { name: 'other' });
    const order = () => node.exec(id, 'cat', '/dev/shm/order');
    await eventually('both have written', async () => (await order()).includes('other'));
    expect(await order()).toBe('hooked\nother');
  });

  it('that fails stops the container, and says so without what it printed', async ({ node }) => {
    // The first process has to be ready for signals, or it is killed after its grace period without a word.
    const script = SAYS_TERM.replace('echo up', 'echo up; touch /tmp/up');
    const hook = 'until [ -e /tmp/up ]; do sleep 0.1; done; echo a secret >&2; exit 7';
    node.apply({ name: 'bad-start', containers: [{ script, lifecycle: { postStart: shell(hook) } }] });
    const ended = await node.reached('bad-start', 'CONTAINER_EXITED');
    expect(node.output(ended)).toEqual(['up', 'term']);
    await eventually('it is reported', () => {
      const events = eventsOf(node, 'bad-start');
      expect(events).toContain('main: Warning FailedPostStartHook PostStartHook failed');
      expect(events).toContain('main: Normal Killing FailedPostStartHook');
      expect(events.filter((event) => event.includes('secret'))).toEqual([]);
      return true;
    });
    await eventually('the sync reports why', () =>
      node
        .journal()
        .some(
          (entry) =>
            entry.kind === 'sync-ended' &&
            entry.error?.includes('exited with 7: a secret') &&
            entry.error.includes('container "main": PostStartHookError: Exec lifecycle hook (['),
        ),
    );
    node.delete('bad-start.yaml');
  });

  it('that never ends does not keep the pod from being stopped', async ({ node }) => {
    node.apply({
      name: 'hangs',
      containers: [{ script: SAYS_TERM, lifecycle: { postStart: shell(`echo hooked > ${OUTPUT}; sleep 2147483`) } }],
    });
    const running = await up(node, 'hangs');
    await eventually('the hook runs', () => node.output(running).includes('hooked'));
    expect(node.output(await stopped(node, 'hangs')).at(-1)).toBe('term');
    expect(eventsOf(node, 'hangs').filter((event) => event.includes('PostStart'))).toEqual([]);
  });

  it('over HTTP asks once, with any answer, and over TLS only a server that speaks it', async ({ node }) => {
    const { asked, at } = await listener(node);
    const httpHeaders = [
      { name: 'x-who', value: 'me' },
      { name: 'Authorization', value: 'Basic eDp5' },
    ];
    const hook = (path: string, scheme: string) => ({ postStart: { httpGet: { ...at, path, scheme, httpHeaders } } });
    node.apply({ name: 'asks', containers: [{ lifecycle: hook('/plain?a=b', 'HTTP') }] });
    node.apply({ name: 'asks-tls', containers: [{ lifecycle: hook('/tls', 'HTTPS') }] });
    await eventually('both have asked', () => asked.length === 2);
    const [plain, tls] = asked.toSorted((one, other) => ((one.url ?? '') < (other.url ?? '') ? -1 : 1));
    expect(plain).toMatchObject({
      url: '/plain?a=b',
      headers: {
        ...{ 'x-who': 'me', 'user-agent': 'kube-lifecycle/1.37', accept: '*/*', authorization: 'Basic eDp5' },
        host: `${at.host}:${at.port}`,
      },
    });
    expect(tls).toMatchObject({ url: '/tls', headers: { 'x-who': 'me' } });
    expect(tls?.headers.authorization).toBeUndefined();
    await eventually('that is reported', () =>
      eventsOf(node, 'asks-tls').includes(
        `pod: Warning LifecycleHTTPFallback request to HTTPS lifecycle hook ${at.host}:${at.port} got HTTP response, retry with HTTP succeeded`,
      ),
    );
    for (const pod of ['asks', 'asks-tls']) {
      await node.reached(pod, 'CONTAINER_RUNNING');
      expect(eventsOf(node, pod).filter((event) => event.includes('FailedPostStartHook'))).toEqual([]);
    }
  });
});

overContainerd('a preStop hook', () => {
  it('that is a command runs before the container is asked to stop', async ({ node }) => {
    const lifecycle = { preStop: shell(`sleep 1; echo hooked > ${OUTPUT}`) };
    node.apply({ name: 'polite', terminationGracePeriodSeconds: 60, containers: [{ script: SAYS_TERM, lifecycle }] });
    await up(node, 'polite');
    expect(node.output(await stopped(node, 'polite'))).toEqual(['up', 'hooked', 'term']);
  });

  it('that fails is reported, and the container is asked to stop all the same', async ({ node }) => {
    const lifecycle = { preStop: shell('echo a secret; exit 1') };
    node.apply({ name: 'bad-stop', terminationGracePeriodSeconds: 60, containers: [{ script: SAYS_TERM, lifecycle }] });
    await up(node, 'bad-stop');
    expect(node.output(await stopped(node, 'bad-stop'))).toEqual(['up', 'term']);
    await eventually('it is reported', () =>
      eventsOf(node, 'bad-stop').includes('main: Warning FailedPreStopHook PreStopHook failed'),
    );
    expect(eventsOf(node, 'bad-stop').filter((event) => event.includes('secret'))).toEqual([]);
  });

  it('that outlasts the grace period does not keep the container from being stopped', async ({ node }) => {
    const lifecycle = { preStop: shell(`echo hooked > ${OUTPUT}; sleep 2147483`) };
    node.apply({ name: 'endless', terminationGracePeriodSeconds: 8, containers: [{ script: SAYS_TERM, lifecycle }] });
    await up(node, 'endless');
    expect(node.output(await stopped(node, 'endless'))).toEqual(['up', 'hooked', 'term']);
    await eventually('the sandbox is stopped, too', async () => {
      const [sandbox] = (await node.sandboxes()).filter(({ pod }) => pod.startsWith('endless-'));
      return sandbox?.state !== 'SANDBOX_READY';
    });
  });

  it('that sleeps leaves the container alone for as long', async ({ node }) => {
    const lifecycle = { preStop: { sleep: { seconds: 2 } } };
    node.apply({ name: 'sleepy', terminationGracePeriodSeconds: 60, containers: [{ script: SAYS_TERM, lifecycle }] });
    await up(node, 'sleepy');
    const { finishedAt } = await stopped(node, 'sleepy');
    const killing = await eventually('the journal has its beginning', () =>
      node
        .journal()
        .find((entry) => entry.kind === 'event' && entry.reason === 'Killing' && entry.pod?.name.startsWith('sleepy-')),
    );
    expect(Number(finishedAt / 1_000_000n) - killing.at).toBeGreaterThanOrEqual(1_999);
  });

  it('over HTTP asks the container itself, by the name of its port', async ({ node }) => {
    node.apply({
      name: 'served',
      terminationGracePeriodSeconds: 60,
      containers: [
        {
          image: SERVER,
          // The first process of its namespace only ends by signals that it handles.
          command: ['sh', '-c', "trap 'exit 0' TERM; httpd -f -vv -p 8080 -h /www & wait"],
          ports: [{ name: 'web', containerPort: 8080 }],
          lifecycle: { preStop: { httpGet: { path: '/bye?now', port: 'web' } } },
        },
      ],
    });
    node.keepLog(await node.reached('served', 'CONTAINER_RUNNING'));
    const address = await node.addressOf('served');
    await eventually('it serves', async () => (await fetch(`http://${address}:8080/`)).ok);
    const ended = await stopped(node, 'served');
    // It answers with status 404, which is an answer.
    expect(node.output(ended).join('\n')).toContain('url:/bye');
    expect(eventsOf(node, 'served').filter((event) => event.includes('PreStop'))).toEqual([]);
  });

  // It kills its agent, so it has one of its own.
  onOwnNode('is run by an agent that was started after the manifest was deleted', async ({ node }) => {
    await node.keepEnded(/^/);
    const lifecycle = { preStop: shell(`echo hooked > ${OUTPUT}`) };
    node.apply({ name: 'orphan', terminationGracePeriodSeconds: 60, containers: [{ script: SAYS_TERM, lifecycle }] });
    await node.start();
    await up(node, 'orphan');
    await node.kill('SIGKILL');
    node.delete('orphan.yaml');
    await node.start();
    const ended = await node.reached('orphan', 'CONTAINER_EXITED');
    expect(node.output(ended).slice(0, 2)).toEqual(['up', 'hooked']);
  });
});

import { join } from 'node:path';
import { expect } from 'vitest';
import { isCriError } from '../../src/model/cri/cri-error.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { BUSYBOX } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode((node) => ['--config', node.configuration(QUICK_RESTARTS)]);
/** Of a container `main` with the image of the tests, computed by hand as the kubelet does. */
const HASH = '956b2abb';

overContainerd('what the runtime keeps of a pod', () => {
  it('is named, labelled and annotated as by the kubelet', async ({ node }) => {
    node.write(
      'labels.yaml',
      `
apiVersion: v1
kind: Pod
metadata: { name: labels, namespace: lab, labels: { app: shop, io.kubernetes.pod.name: fake }, annotations: { note: hello } }
spec:
  terminationGracePeriodSeconds: 3
  containers:
    - name: main
      image: ${BUSYBOX}
      command: [sleep, "2147483"]
      ports: [{ containerPort: 80 }, { name: dns, containerPort: 53, protocol: UDP }]
      lifecycle: { preStop: { sleep: { seconds: 1 } } }
      terminationMessagePath: /tmp/last-words
      terminationMessagePolicy: FallbackToLogsOnError
    - name: plain
      image: ${BUSYBOX}
      command: [sleep, "2147483"]
`,
    );
    const { id, status } = await running(node, 'labels');
    const plain = await running(node, 'labels', 'plain');
    const sandbox = await node.sandboxOf('labels');
    const uid = sandbox.metadata?.uid ?? '';
    const identity = {
      'io.kubernetes.pod.name': `labels-${NODE_NAME}`,
      'io.kubernetes.pod.namespace': 'lab',
      'io.kubernetes.pod.uid': uid,
    };
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(sandbox).toMatchObject({
      metadata: { name: `labels-${NODE_NAME}`, namespace: 'lab', uid, attempt: 0 },
      runtimeHandler: '',
    });
    expect(sandbox.labels).toEqual({ app: 'shop', ...identity });
    expect(sandbox.annotations).toEqual({
      note: 'hello',
      'kubernetes.io/config.hash': uid,
      'kubernetes.io/config.seen': expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      'kubernetes.io/config.source': 'file',
    });

    const { containers } = await node.ask((runtime) =>
      runtime.listContainers({ filter: { podSandboxId: sandbox.id } }),
    );
    const [main, other] = [id, plain.id].map((wanted) => containers.find((container) => container.id === wanted));
    expect(main).toMatchObject({ podSandboxId: sandbox.id, metadata: { name: 'main', attempt: 0 } });
    expect(main?.labels).toEqual({ ...identity, 'io.kubernetes.container.name': 'main' });
    const always = {
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.pod.terminationGracePeriod': '3',
      'rx-kubelet/container-resources': '{}',
    };
    expect(main?.annotations).toEqual({
      ...always,
      'io.kubernetes.container.hash': HASH,
      'io.kubernetes.container.ports':
        '[{"containerPort":80,"protocol":"TCP"},{"name":"dns","containerPort":53,"protocol":"UDP"}]',
      'io.kubernetes.container.preStopHandler': '{"sleep":{"seconds":1}}',
      'io.kubernetes.container.terminationMessagePath': '/tmp/last-words',
      'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
    });
    expect(other?.annotations).toEqual({
      ...always,
      'io.kubernetes.container.hash': expect.stringMatching(/^[1-9a-f][0-9a-f]{0,7}$/) as string,
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
    });
    expect(other?.annotations['io.kubernetes.container.hash']).not.toBe(HASH);
    // The image is named by what it was found to be, and by what the manifest calls it.
    expect(main?.image?.image).toBe(main?.imageRef);
    expect(status.image?.image).toBe(BUSYBOX);
    expect(status.logPath).toBe(join(node.logs, `lab_labels-${NODE_NAME}_${uid}/main/0.log`));
  });

  it('counts its instances', async ({ node }) => {
    node.apply({ name: 'counts', containers: [{ script: 'exit 3' }] });
    await node.reached('counts', 'CONTAINER_EXITED', { attempt: 2 });
    const { containers } = await node.ask((runtime) => runtime.listContainers({}));
    const own = containers.filter(({ labels }) => labels['io.kubernetes.pod.name'] === `counts-${NODE_NAME}`);
    let looked = 0;
    for (const { id, metadata, annotations } of own) {
      const attempt = String(metadata?.attempt);
      expect(annotations).toMatchObject({
        ...{ 'io.kubernetes.container.restartCount': attempt, 'io.kubernetes.container.hash': HASH },
      });
      // A former instance is removed once the next one has ended.
      const status = await node.status(id).catch((error: unknown) => {
        if (!isCriError(error, 'not-found')) throw error;
      });
      if (!status) continue;
      expect(status.logPath.endsWith(`/main/${attempt}.log`)).toBe(true);
      looked += 1;
    }
    expect(looked).toBeGreaterThan(0);
    expect((await node.sandboxOf('counts')).metadata?.attempt).toBe(0);
  });

  it('is a log for each instance, where CRI says', async ({ node }) => {
    const long = 'a'.repeat(20_000);
    // Every instance but the first waits until it may go on, so that the one before it is there with its log.
    const instance = '$(wc -l < /dev/shm/instances)';
    const wait = `until [ ${instance} -eq 1 ] || [ -e /dev/shm/go-${instance} ]; do sleep 0.1; done`;
    const script = `echo x >> /dev/shm/instances; ${wait}; echo out; echo err >&2; printf ${long}; echo; printf end; exit 3`;
    node.apply({ name: 'talks', containers: [{ script }] });
    const ended = async (attempt: number) => {
      const { id } = await node.reached('talks', 'CONTAINER_RUNNING', { attempt: attempt + 1 });
      const former = (await node.containersOf('talks')).find((one) => one.attempt === attempt);
      const status = await node.status(former?.id ?? '');
      expect(status.state).toBe('CONTAINER_EXITED');
      return { status, next: id };
    };
    const { status: first, next: second } = await ended(0);
    const lines = node.logLines(first);
    expect(lines.filter(({ stream }) => stream === 'stderr')).toEqual([{ stream: 'stderr', tag: 'F', content: 'err' }]);
    const out = lines.filter(({ stream }) => stream === 'stdout');
    expect(out.map(({ tag, content }) => `${tag} ${content.length}`)).toEqual(['F 3', 'P 16384', 'F 3616', 'P 3']);
    expect(
      out
        .slice(1, 3)
        .map(({ content }) => content)
        .join(''),
    ).toBe(long);
    await node.letGo(second, '/dev/shm/go-2');
    const { status: next } = await ended(1);
    expect(next.id).toBe(second);
    expect(next.logPath).not.toBe(first.logPath);
    expect(node.logLines(next)).toHaveLength(lines.length);
  });
});

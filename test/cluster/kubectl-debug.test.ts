import { expect } from 'vitest';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import type { ContainerStatus, Pod } from '../../src/model/pod/pod.js';
import { BUSYBOX } from '../containerd/containerd-node.js';
import { freeHostPort } from '../containerd/host-port.js';
import { eventually } from '../embedded/eventually.js';
import { type ClusterNode, containerOf } from './cluster-node.js';
import { kubectl } from './kubectl.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const port = await freeHostPort();
const flags = (node: ClusterNode) => [
  ...['--port', String(port), '--client-ca-file', `${node.cluster.folder}/pki/ca.crt`],
];
const it = onNode('debugged', flags);

/** Since this minor version of Kubernetes the subresource is a pod, and not an object of a kind of its own. */
const FIRST_WITH_PODS = 22;
/** Prints each line of its input. After the line `over` it waits for a file, and ends. */
const SCRIPT =
  'echo begun; until test "$line" = over; do if read -t 1 line; then echo "got $line"; else echo waiting; fi; done; ' +
  'until test -e /seen; do sleep 0.1; done; exit 7';

interface Version {
  readonly minor: string;
}

/** The minor version of the server, and that of kubectl. */
const versions = async (node: ClusterNode): Promise<readonly [server: number, client: number]> => {
  const { stdout } = await kubectl(node, ['version', '--output=json']);
  const { serverVersion, clientVersion } = JSON.parse(stdout.toString()) as Record<
    'serverVersion' | 'clientVersion',
    Version
  >;
  return [Number.parseInt(serverVersion.minor, 10), Number.parseInt(clientVersion.minor, 10)];
};

/** Adds the container to a pod by the subresource as this server has it. */
const add = async (node: ClusterNode, pod: string, container: object, serverMinor: number): Promise<void> => {
  const path = `${node.path(pod)}/ephemeralcontainers`;
  if (serverMinor >= FIRST_WITH_PODS) {
    await node.admin.patch(path, { spec: { ephemeralContainers: [container] } });
    return;
  }
  const object = await node.admin.get<ApiObject>(path);
  await node.admin.replace(path, { ...object, ephemeralContainers: [container] });
};

/** Starts `debugger` in a pod by kubectl, or where kubectl and the server have no common form of it as kubectl would. */
const debug = async (node: ClusterNode, pod: string): Promise<void> => {
  const [server, client] = await versions(node);
  if (server < FIRST_WITH_PODS === client < FIRST_WITH_PODS) {
    const args = ['debug', pod, '--container=debugger', `--image=${BUSYBOX}`, '--target=main', '-i', '--attach=false'];
    expect(await kubectl(node, [...args, '--', 'sh', '-c', SCRIPT])).toMatchObject({ code: 0 });
    return;
  }
  const container = {
    ...{ name: 'debugger', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', SCRIPT] },
    ...{ stdin: true, targetContainerName: 'main', terminationMessagePolicy: 'File' },
  };
  await add(node, pod, container, server);
};

const isServed = (node: ClusterNode, since = 0) =>
  eventually('the kubelet API is served', () => node.log.slice(since).includes('the kubelet API is served'));

/** Kills the agent, and starts another one; resolves when that runs a new pod, so that it has seen all others, too. */
const restart = async (node: ClusterNode, newPod: string): Promise<void> => {
  await node.kill('SIGKILL');
  const since = node.log.length;
  await node.start(...flags(node));
  await node.create({ name: newPod });
  await node.running(newPod);
  await isServed(node, since);
};

const debuggerOf = ({ status }: Pod): ContainerStatus | undefined =>
  status?.ephemeralContainerStatuses?.find(({ name }) => name === 'debugger');

overCluster(
  'an ephemeral container',
  () => {
    it('debugs a pod that runs, by every command of kubectl, and is started once', async ({ node }) => {
      await node.create({ name: 'examined' });
      const before = containerOf(await node.running('examined'));
      await isServed(node);
      await debug(node, 'examined');
      const runs = await node.shown('examined', 'is debugged', (pod) => debuggerOf(pod)?.state?.running !== undefined);
      expect(debuggerOf(runs)).toMatchObject({ restartCount: 0, image: expect.stringContaining('busybox') as string });
      expect(containerOf(runs)).toEqual(before);

      const [inDebugger, inMain] = await Promise.all(
        ['debugger', 'main'].map(async (container) =>
          kubectl(node, ['exec', 'examined', '-c', container, '--', 'cat', '/proc/1/cmdline']),
        ),
      );
      // It sees the processes of its target.
      expect(inDebugger).toEqual(inMain);
      expect(inDebugger).toMatchObject({ code: 0, stderr: '' });
      const logs = async (): Promise<string> =>
        (await kubectl(node, ['logs', 'examined', '-c', 'debugger'])).stdout.toString();
      await eventually('its log is printed', async () => /^begun\n(waiting\n)*$/.test(await logs()));

      await restart(node, 'after');
      const [{ id } = { id: '' }, ...others] = await node.containersNamed('examined', 'debugger');
      expect(others).toEqual([]);
      expect(debuggerOf(runs)?.containerID).toBe(`containerd://${id}`);

      // The beginning of the output may be lost: the runtime passes input on before it has attached the output.
      const inside = (...command: string[]) => kubectl(node, ['exec', 'examined', '-c', 'debugger', '--', ...command]);
      const seen = { text: 'got over\n', then: () => inside('touch', '/seen') };
      const attached = await kubectl(node, ['attach', 'examined', '-c', 'debugger', '-i'], {
        afterOutput: 'over\n',
        seen,
      });
      expect(attached.stdout.toString()).toMatch(/^(waiting\n)+got over\n$/);
      const ended = await node.shown(
        'examined',
        'is no longer debugged',
        (pod) => debuggerOf(pod)?.state?.terminated !== undefined,
      );
      expect(debuggerOf(ended)?.state?.terminated).toMatchObject({ exitCode: 7 });
      expect(await logs()).toMatch(/\ngot over\n$/);

      // One that has ended is not started again, also by a new agent, and nothing else is.
      await restart(node, 'later');
      const last = await node.running('examined');
      expect(containerOf(last)).toEqual(before);
      expect(debuggerOf(last)).toEqual(debuggerOf(ended));
      expect(await node.containersNamed('examined', 'debugger')).toMatchObject([{ id, attempt: 0 }]);
    });
  },
  { alone: true },
);

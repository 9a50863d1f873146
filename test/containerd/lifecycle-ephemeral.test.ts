import { join } from 'node:path';
import { concatMap, Subject } from 'rxjs';
import { kubelet, type Pod, type SourceEvent, type WorkerOutcome } from 'rx-kubelet';
import { withNodePorts } from 'rx-kubelet/node';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { BUSYBOX, type ContainerdNode, it, WAIT } from './containerd-node.js';
import { namespaceOf, running } from './inside.js';
import { overContainerd } from './missing.js';

type Ephemeral = NonNullable<Pod['spec']['ephemeralContainers']>[number];

/** A pod as an API server would send it; manifests of static pods may not have ephemeral containers. */
const pod = (...ephemeralContainers: readonly Ephemeral[]): Pod => ({
  ...{
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `looked-at-${NODE_NAME}`, namespace: 'default', uid: 'uid-of-api' },
  },
  spec: {
    ...{ restartPolicy: 'Always', terminationGracePeriodSeconds: 1 },
    containers: [{ name: 'main', image: BUSYBOX, command: ['sh', '-c', WAIT] }],
    ephemeralContainers,
  },
});
const ephemeral = (name: string, script: string, more: Partial<Ephemeral> = {}): Ephemeral => ({
  ...{ name, image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', script] },
  ...more,
});

/** The agent as a library over the runtime of a node, with a source of its own. */
const asLibrary = (node: ContainerdNode, wanted$: Subject<SourceEvent>, outcomes: WorkerOutcome[]) => {
  const endpoint = `unix://${join(node.stage, 'containerd.sock')}`;
  const settings = { podLogsDirectory: node.logs, rootDirectory: node.rootDir };
  return withNodePorts({ endpoint, node: settings }, (ports) =>
    kubelet(ports, { sources: { api: wanted$ } }).outcome$.pipe(
      concatMap((outcome) => {
        outcomes.push(outcome);
        return [];
      }),
    ),
  ).subscribe();
};

overContainerd('an ephemeral container', () => {
  it('joins a pod that runs, once, and sees the processes of its target', async ({ node }) => {
    const wanted$ = new Subject<SourceEvent>();
    const outcomes: WorkerOutcome[] = [];
    const agent = asLibrary(node, wanted$, outcomes);
    node.beforeDispose(async () => Promise.resolve(agent.unsubscribe()));
    const want = (...containers: readonly Ephemeral[]) => wanted$.next({ kind: 'set', pods: [pod(...containers)] });
    await eventually('the agent listens', () => wanted$.observed);
    want();
    const main = await running(node, 'looked-at');
    const debug = ephemeral('debug', `ls /proc/1/exe && echo up; ${WAIT}`, { targetContainerName: 'main' });
    want(debug);
    const guest = await running(node, 'looked-at', 'debug');
    expect(namespaceOf(guest.pid, 'pid')).toBe(namespaceOf(main.pid, 'pid'));
    expect(namespaceOf(guest.pid, 'net')).toBe(namespaceOf(main.pid, 'net'));
    expect(namespaceOf(guest.pid, 'mnt')).not.toBe(namespaceOf(main.pid, 'mnt'));
    expect(await node.exec(guest.id, 'sh', '-c', 'tr "\\0" " " < /proc/1/cmdline')).toContain('sh -c');

    // One that ends is not started again, and another one joins without a target.
    want(debug, ephemeral('once', 'echo once; exit 5'));
    expect(await node.reached('looked-at', 'CONTAINER_EXITED', { name: 'once' })).toMatchObject({ exitCode: 5 });
    want(debug, ephemeral('once', 'echo once; exit 5'), ephemeral('alone', WAIT));
    const alone = await running(node, 'looked-at', 'alone');
    expect(namespaceOf(alone.pid, 'pid')).not.toBe(namespaceOf(main.pid, 'pid'));
    expect(await node.containersOf('looked-at', 'once')).toMatchObject([{ attempt: 0 }]);
    expect(await node.containersOf('looked-at', 'main')).toMatchObject([{ id: main.id, state: 'CONTAINER_RUNNING' }]);
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);

    wanted$.next({ kind: 'set', pods: [] });
    // What has ended may be removed already.
    await eventually('all of them have ended', async () =>
      (await node.containersOf('looked-at')).every(({ state }) => state === 'CONTAINER_EXITED'),
    );
  });
});

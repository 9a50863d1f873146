import { cpus, hostname, totalmem } from 'node:os';
import { expect } from 'vitest';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import { leasePath, nodePath } from '../../src/model/kube-api/api-paths.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { type ApiEvent, type ApiNode, type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const it = onNode('node-a', () => ['--node-labels', 'example.com/rack=seven']);

interface Lease extends ApiObject {
  readonly spec: { readonly holderIdentity: string; readonly leaseDurationSeconds: number; readonly renewTime: string };
}

const MIRROR = 'kubernetes.io/config.mirror';

const shownNode = async (node: ClusterNode): Promise<ApiNode> => {
  const shown = await node.node();
  if (!shown) throw new Error('there is no node');
  return shown;
};

overCluster('a node', () => {
  it('says what it is and what it has', async ({ node }) => {
    const { metadata, status, spec } = await shownNode(node);
    expect(metadata.labels).toMatchObject({
      'kubernetes.io/hostname': 'node-a',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': process.arch === 'x64' ? 'amd64' : process.arch,
      'example.com/rack': 'seven',
    });
    expect(metadata.annotations).toMatchObject({ 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' });
    expect(spec.taints?.some(({ key }) => key === 'node.kubernetes.io/unschedulable') ?? false).toBe(false);
    expect(status.capacity).toMatchObject({ cpu: String(cpus().length), pods: '110' });
    expect(Number(status.capacity.memory?.replace(/Ki$/, '')) * 1024).toBe(totalmem());
    expect(Object.keys(status.allocatable)).toEqual(
      expect.arrayContaining(['cpu', 'memory', 'pods', 'ephemeral-storage']),
    );
    expect(status.addresses).toContainEqual({ type: 'Hostname', address: 'node-a' });
    expect(status.addresses.find(({ type }) => type === 'InternalIP')?.address).toMatch(/^[\d.]+$|:/);
    expect(status.nodeInfo).toMatchObject({
      operatingSystem: 'linux',
      containerRuntimeVersion: expect.stringMatching(/^containerd:\/\//) as string,
      kubeletVersion: expect.stringMatching(/^v\d+\./) as string,
    });
    for (const fact of ['machineID', 'systemUUID', 'bootID', 'kernelVersion', 'osImage', 'architecture']) {
      expect(status.nodeInfo[fact], fact).toBeDefined();
    }
    expect(hostname()).not.toBe('node-a');
    // Its agent was started with the port 0.
    expect(status.daemonEndpoints).toEqual({ kubeletEndpoint: { Port: 0 } });
  });

  it('is ready, and under no pressure', async ({ node }) => {
    const { status } = await shownNode(node);
    const conditions = Object.fromEntries(status.conditions.map((one) => [one.type, one]));
    expect(conditions.Ready).toMatchObject({ status: 'True', reason: 'KubeletReady' });
    expect(conditions).toMatchObject({
      MemoryPressure: { status: 'False', reason: 'KubeletHasSufficientMemory' },
      DiskPressure: { status: 'False', reason: 'KubeletHasNoDiskPressure' },
      PIDPressure: { status: 'False', reason: 'KubeletHasSufficientPID' },
    });
    // It is said again, while nothing changes.
    const { lastHeartbeatTime, lastTransitionTime } = conditions.Ready as ApiNode['status']['conditions'][number];
    await eventually('the heartbeat goes on', async () => {
      const ready = (await shownNode(node)).status.conditions.find(({ type }) => type === 'Ready');
      expect(ready?.lastTransitionTime).toBe(lastTransitionTime);
      return Date.parse(ready?.lastHeartbeatTime ?? '') > Date.parse(lastHeartbeatTime);
    });
  });

  it('lists its images', async ({ node }) => {
    await eventually('the image of the tests is listed', async () => {
      const { images = [] } = (await shownNode(node)).status;
      return images.some(({ names, sizeBytes }) => names.includes('stage.test/busybox:1') && sizeBytes > 0);
    });
  });

  it('holds a lease, and renews it', async ({ node }) => {
    const lease = () => node.admin.get<Lease>(leasePath('kube-node-lease', 'node-a'));
    const first = await eventually('there is a lease', lease);
    expect(first.spec).toMatchObject({ holderIdentity: 'node-a', leaseDurationSeconds: 40 });
    const { metadata } = await shownNode(node);
    await eventually('it is renewed, and belongs to the node', async () => {
      const { metadata: ofLease, spec } = await lease();
      expect(ofLease).toMatchObject({
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: metadata.uid }],
      });
      return Date.parse(spec.renewTime) > Date.parse(first.spec.renewTime);
    });
  });

  it('reports its start', async ({ node }) => {
    await eventually('there are events of it', async () => {
      const events = await node.admin.list<ApiEvent>(
        '/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DNode%2CinvolvedObject.name%3Dnode-a',
      );
      const reasons = events.map(({ reason }) => reason);
      expect(reasons).toEqual(expect.arrayContaining(['Starting', 'NodeHasSufficientMemory', 'NodeHasNoDiskPressure']));
      // Those after its registration.
      const { metadata } = await node.admin.get<ApiNode>(nodePath('node-a'));
      const about = events.filter(({ reason }) => reason === 'NodeHasSufficientMemory');
      expect(about.map(({ involvedObject }) => involvedObject.uid)).toEqual([metadata.uid]);
      return true;
    });
  });

  it('keeps what others have said of it', async ({ node }) => {
    const taint = { key: 'example.com/own', value: 'yes', effect: 'NoSchedule' };
    await node.admin.patch(nodePath('node-a'), {
      metadata: { labels: { 'example.com/of-others': 'yes' }, annotations: { 'example.com/note': 'kept' } },
      spec: { taints: [taint] },
    });
    await node.admin.patch(`${nodePath('node-a')}/status`, {
      status: { conditions: [{ type: 'NetworkUnavailable', status: 'False', reason: 'OfOthers' }] },
    });
    const heartbeat = async (): Promise<number> =>
      Date.parse(
        (await shownNode(node)).status.conditions.find(({ type }) => type === 'Ready')?.lastHeartbeatTime ?? '',
      );
    const before = await heartbeat();
    await eventually('it has written its status again', async () => (await heartbeat()) > before);
    const { metadata, spec, status } = await shownNode(node);
    expect(metadata.labels).toMatchObject({ 'example.com/of-others': 'yes', 'example.com/rack': 'seven' });
    expect(metadata.annotations).toMatchObject({ 'example.com/note': 'kept' });
    expect(spec.taints).toContainEqual(taint);
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'NetworkUnavailable', reason: 'OfOthers' }),
    );
  });
});

overCluster('a static pod', () => {
  const ofApi = (node: ClusterNode, name: string): string => `/api/v1/namespaces/default/pods/${name}-${node.nodeName}`;
  const running = (node: ClusterNode, name: string): Promise<Pod> =>
    eventually(`the mirror of ${name} runs`, async () => {
      const pod = await node.admin.find<Pod>(ofApi(node, name));
      return pod?.status?.phase === 'Running' ? pod : undefined;
    });

  it('has a mirror in the API, which others cannot take away', async ({ node }) => {
    node.apply({ name: 'static', labels: { version: 'one' } });
    const mirror = await running(node, 'static');
    const { uid } = (await shownNode(node)).metadata;
    expect(mirror.metadata).toMatchObject({
      labels: { version: 'one' },
      annotations: {
        'kubernetes.io/config.source': 'file',
        [MIRROR]: expect.any(String) as string,
        'kubernetes.io/config.hash': mirror.metadata.annotations?.[MIRROR],
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid, controller: true }],
    });
    expect(mirror.spec.nodeName).toBe('node-a');
    expect(containerOf(mirror)).toMatchObject({ ready: true, restartCount: 0 });
    await node.admin.remove(ofApi(node, 'static'), 0);
    const again = await eventually('there is another one', async () => {
      const pod = await running(node, 'static');
      return pod.metadata.uid === mirror.metadata.uid ? undefined : pod;
    });
    // The pod itself has not noticed.
    expect(containerOf(again).containerID).toBe(containerOf(mirror).containerID);
  });

  it('that is changed gets a new mirror, and one that goes takes its mirror along', async ({ node }) => {
    node.apply({ name: 'moving', labels: { version: 'one' } });
    const before = await running(node, 'moving');
    node.apply({ name: 'moving', labels: { version: 'two' } });
    const after = await eventually('the mirror is of the new one', async () => {
      const pod = await running(node, 'moving');
      return pod.metadata.labels?.version === 'two' ? pod : undefined;
    });
    expect(after.metadata.annotations?.[MIRROR]).not.toBe(before.metadata.annotations?.[MIRROR]);
    expect(containerOf(after).containerID).not.toBe(containerOf(before).containerID);
    node.delete('moving.yaml');
    await eventually('the mirror has gone', async () => (await node.admin.find(ofApi(node, 'moving'))) === undefined);
  });
});

const deletion = (): void => {
  it('registers again, with its pods', async ({ node }) => {
    await node.create({ name: 'stays' });
    const pod = await node.running('stays');
    const { uid } = (await shownNode(node)).metadata;
    await node.admin.remove(nodePath('node-a'));
    await eventually('there is another node', async () => {
      const again = await node.node();
      expect(again?.metadata.uid).not.toBe(uid);
      expect(again?.metadata.labels).toMatchObject({ 'example.com/rack': 'seven' });
      return (await node.ready()) === 'True';
    });
    expect(containerOf(await node.running('stays'))).toEqual(containerOf(pod));
    await node.create({ name: 'after' });
    await node.running('after');
  });
};
// What it deletes is what the others look at.
overCluster('a node that an administrator deletes', deletion, { alone: true });

import { expect } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import { eventually } from '../embedded/eventually.js';
import { type ApiEvent, type ClusterNode, containerOf } from './cluster-node.js';
import { overCluster } from './missing.js';
import { itOnOwnServer } from './own-server.js';

const NODE = 'teller';

const it = itOnOwnServer(NODE);

/** An event is tried again after ten seconds at most, and the first one of several may have to wait twice; much more is no matter. */
const AFTER_OUTAGE_MS = 180_000;

const named = async (node: ClusterNode, uid: string, reason: string): Promise<ApiEvent | undefined> =>
  (await node.eventsOf(uid)).find((event) => event.reason === reason);

const events = (): void => {
  it('of a static pod name the pod by what its mirror says of it', async ({ node }) => {
    node.apply({ name: 'static-reported' });
    const [mirror, started] = await eventually('the mirror and the event are there', async () => {
      const mirror = await node.admin.find<Pod>(`/api/v1/namespaces/default/pods/static-reported-${NODE}`);
      const all = await node.admin.list<ApiEvent>(
        `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dstatic-reported-${NODE}`,
      );
      const started = all.find(({ reason }) => reason === 'Started');
      return mirror && started ? ([mirror, started] as const) : undefined;
    });
    expect(started.involvedObject.uid).toBe(mirror.metadata.annotations?.['kubernetes.io/config.mirror']);
    expect(started.involvedObject.uid).not.toBe(mirror.metadata.uid);
  });

  it('that the API server has forgotten are sent again, with their count', async ({ node }) => {
    const { metadata } = await node.create({ name: 'forgotten', containers: [{ script: 'exit 1' }] });
    const before = await eventually('it has backed off', () => named(node, metadata.uid, 'BackOff'));
    await node.admin.remove(`/api/v1/namespaces/${NODE}/events/${before.metadata.name}`);
    const after = await eventually('it was sent again', () => named(node, metadata.uid, 'BackOff'));
    expect(after.metadata.name).toBe(before.metadata.name);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.count).toBeGreaterThan(before.count ?? 0);
  });

  it('of an outage are sent after it, each as often as it happened', async ({ node }) => {
    const { metadata } = await node.create({ name: 'unheard', containers: [{ script: 'sleep 1; exit 1' }] });
    const pod = await node.shown('unheard', 'has started', ({ status }) => status?.phase === 'Running');
    const before = await eventually('its start is reported', () => named(node, metadata.uid, 'Started'));
    const restarts = containerOf(pod).restartCount + 3;
    await node.cluster.outage(() => node.restarted('unheard', restarts));
    const after = await eventually(
      'all starts are reported',
      async () => {
        const event = await named(node, metadata.uid, 'Started');
        return (event?.count ?? 0) > restarts ? event : undefined;
      },
      AFTER_OUTAGE_MS,
    );
    // The same one, which has only been counted on.
    expect(after.metadata.uid).toBe(before.metadata.uid);
    const dropped = await node.admin.list<ApiEvent>('/api/v1/namespaces/default/events');
    expect(dropped.filter(({ reason }) => reason === 'EventsDropped')).toEqual([]);
  });
};
// The server goes away from under all of them.
overCluster('events', events, { alone: true });

import { expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod/pod.js';
import { simulatedApiServer } from '../../src/tools/sim/api-server/simulated-api-server.js';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { simulatedNode } from '../../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';
import type { WorldEvent } from '../../src/tools/sim/world/world-event.js';

const SECOND = 1_000;
const DELAY_SECONDS = 90;
const DOWN_MS = 60 * SECOND;

/** The agent replaces a ready container while the API server is away, and dies before it has probed the new instance. */
const replaced = () => {
  const scheduler = new VirtualScheduler();
  const events: WorldEvent[] = [];
  const tell = (event: WorldEvent): void => void events.push(event);
  const server = simulatedApiServer({
    scheduler,
    random: seededRandom('server'),
    changed: ({ at, resource, type, object }) =>
      tell({ kind: 'api-changed', at, resource: resource.plural, type, object, by: 'agent' }),
  });
  const node = simulatedNode({ seed: 1, scheduler, cluster: server, sources: {}, tell });
  const readinessProbe = { httpGet: { port: 80 }, initialDelaySeconds: DELAY_SECONDS, periodSeconds: 1 };
  const containers = [{ name: 'main', image: 'registry.test/web:1', readinessProbe }];
  server.do({
    ...{ method: 'POST', path: '/api/v1/namespaces/default/pods' },
    body: { metadata: { name: 'web' }, spec: { nodeName: 'node-1', containers } },
  });
  const pass = (ms: number): void => scheduler.runUntil(scheduler.now() + ms);
  const starts = (): readonly string[] =>
    events.flatMap((event) => (event.kind === 'container-started' ? [event.containerId] : []));
  const shown = (): Pod => server.get('/api/v1/namespaces/default/pods/web') as unknown as Pod;

  node.start();
  pass((DELAY_SECONDS + 30) * SECOND);
  const [first = ''] = starts();
  const before = shown();
  server.restart(DOWN_MS / 2);
  node.runtime.crash(first, 1);
  while (starts().length === 1) scheduler.step();
  node.kill();
  pass(DOWN_MS);
  const kept = shown();
  events.length = 0;
  node.start();
  pass(2 * DELAY_SECONDS * SECOND);
  node.dispose();
  return { first, before, kept, events };
};

const readyOf = (pod: Pod | undefined) => pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

it('does not show an instance as ready that has replaced a ready one while the API server was away, before it was probed', () => {
  const { first, before, kept, events } = replaced();
  // The API goes on showing the instance before as ready.
  for (const pod of [before, kept]) {
    expect(readyOf(pod)).toBe('True');
    expect(pod.status?.containerStatuses?.[0]?.containerID).toContain(first);
  }
  const story = events.flatMap((event): string[] => {
    if (event.kind === 'asked' && event.which === 'readiness') return ['probe'];
    if (event.kind === 'status' && event.pod)
      return [`ready ${event.pod.status?.containerStatuses?.[0]?.ready} ${readyOf(event.pod)}`];
    if (event.kind === 'api-changed' && event.resource === 'pods')
      return [`api ${readyOf(event.object as unknown as Pod)}`];
    return [];
  });
  const probedAt = story.indexOf('probe');
  const unprobed = new Set(story.slice(0, probedAt));
  expect(unprobed).toEqual(new Set(['ready false False', 'api False']));
  expect(story.slice(probedAt)).toContain('api True');
  expect(events.some((event) => event.kind === 'container-started')).toBe(false);
});

import { map, mergeMap, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import type { Pod } from '../../src/model/pod/pod.js';
import { simulatedApiServer } from '../../src/tools/sim/api-server/simulated-api-server.js';
import { seededRandom, type SeededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { simulatedNode } from '../../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';
import type { WorldEvent } from '../../src/tools/sim/world/world-event.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../src/streams/ports/api-server.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A pod with something of everything that the agent looks at. */
const RICH = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ name: 'evil', namespace: 'default', uid: 'uid-evil', resourceVersion: '1', generation: 1 },
    ...{ creationTimestamp: '2026-01-01T00:00:00Z', labels: { a: 'b' }, annotations: { c: 'd' } },
  },
  spec: {
    ...{ nodeName: 'node-1', restartPolicy: 'Always', terminationGracePeriodSeconds: 3, hostname: 'h', subdomain: 's' },
    securityContext: { runAsUser: 1, supplementalGroups: [1], sysctls: [{ name: 'a.b', value: '1' }] },
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['x'] }],
    dnsConfig: { nameservers: ['10.0.0.1'], options: [{ name: 'ndots', value: '1' }] },
    readinessGates: [{ conditionType: 'a/b' }],
    volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }],
    initContainers: [{ name: 'init', image: 'registry.test/init:1', restartPolicy: 'Always' }],
    containers: [
      {
        ...{ name: 'main', image: 'registry.test/web:1', imagePullPolicy: 'IfNotPresent' },
        ...{ command: ['a'], args: ['$(A)'], workingDir: '/', terminationMessagePath: '/dev/termination-log' },
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
          { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        ],
        ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP', name: 'http' }],
        resources: { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '1', memory: '1Gi' } },
        livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: 'a', value: 'b' }] }, periodSeconds: 1 },
        readinessProbe: { exec: { command: ['x'] }, periodSeconds: 1 },
        lifecycle: { preStop: { sleep: { seconds: 1 } } },
        securityContext: { capabilities: { add: ['A'] }, seccompProfile: { type: 'RuntimeDefault' } },
      },
    ],
  },
  status: {
    ...{ phase: 'Pending', startTime: '2026-01-01T00:00:00Z', podIPs: [{ ip: '10.0.0.1' }] },
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    containerStatuses: [
      {
        ...{ name: 'main', image: 'x', imageID: 'y', ready: false, restartCount: 3, containerID: 'cri://1' },
        state: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:00:00Z' } },
      },
    ],
  },
} as const;

const GARBAGE: readonly unknown[] = [
  ...[null, 'x', '', 7, -1, 1e300, true, [], {}, [null], ['x'], [[]], { a: null }, { toString: 1 }],
  ...['../../../etc', '..', '/', 'a/b', 'a\u0000b', '\u001b[2J', 'x'.repeat(300), '${HOME}', '-rf'],
  ...['1e400', ' 1Gi ', '9'.repeat(500)],
  JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`),
];

/** Some places of the value replaced by what does not belong there. */
const spoilt = (random: SeededRandom, value: unknown, chance: number): unknown => {
  if (random.next() < chance) return GARBAGE[random.integer(0, GARBAGE.length - 1)];
  if (Array.isArray(value)) return value.map((item: unknown) => spoilt(random, item, chance));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spoilt(random, item, chance)]));
};

const evils = (random: SeededRandom, count: number): readonly unknown[] =>
  Array.from({ length: count }, (_, index) => {
    const { metadata } = RICH;
    const named = { ...RICH, metadata: { ...metadata, name: `evil-${index}`, uid: `uid-evil-${index}` } };
    return spoilt(random, named, random.next() < 0.5 ? 0.01 : 0.05);
  });

interface HostileOptions {
  readonly random: SeededRandom;
  readonly isAway: () => boolean;
}

/** What the server says of pods has such among them as no server would have. */
const hostile = (api: ApiServer, { random, isAway }: HostileOptions): ApiServer => {
  const away = <T>(): Observable<T> => throwError(() => new ApiError({ message: 'connection refused' }));
  const isPods = ({ path }: { readonly path: string }): boolean => path === '/api/v1/pods';
  return {
    request: (asked: ApiRequest) => {
      if (isAway()) return away();
      return api.request(asked).pipe(
        map((answer) => {
          if (isPods(asked) && asked.method === 'GET') {
            const { items, ...list } = answer as { readonly items: readonly unknown[] };
            return { ...list, items: [...evils(random, 20), ...items, null, 7, { metadata: null }] };
          }
          // What a write is answered with is not better, now and then.
          return asked.method === 'GET' ? answer : spoilt(random, answer, 0.002);
        }),
      );
    },
    watch: (asked) => {
      if (isAway()) return away();
      if (!isPods(asked)) return api.watch(asked);
      return api.watch(asked).pipe(
        mergeMap((message): Observable<ApiWatchMessage> => {
          if (message.kind === 'opened') return of(message);
          const lines = evils(random, 5).map((object, index): ApiWatchMessage => {
            const type = (['ADDED', 'MODIFIED', 'DELETED'] as const)[index % 3]!;
            return { kind: 'event', type, object: withVersionOf(object, message.object) };
          });
          return of(...lines, message);
        }),
      );
    },
  };
};

/** The lines of a watch are in order. */
const withVersionOf = (object: unknown, other: unknown): unknown => {
  const { metadata } = (object ?? {}) as { readonly metadata?: unknown };
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return object;
  const { resourceVersion } = (other as Pod).metadata;
  const before = String(Number(resourceVersion) - 1);
  return { ...(object as object), metadata: { ...metadata, resourceVersion: before } };
};

const stage = (seed: number) => {
  const random = seededRandom(seed).fork('hostile');
  const scheduler = new VirtualScheduler({ startMs: Date.parse('2026-01-01T00:00:00Z') });
  const server = simulatedApiServer({ scheduler, random: random.fork('server') });
  const told: WorldEvent[] = [];
  let isAway = false;
  const node = simulatedNode({
    ...{ seed, scheduler, cluster: server, sources: {} },
    tell: (event) => told.push(event),
    // Some of the spoilt pods are meant to be rejected.
    rejected: () => undefined,
    wrapPorts: (ports) => {
      const { cluster } = ports;
      if (!cluster?.lastKnown) throw new Error('expected a cluster that keeps what it knows');
      const { readPods } = cluster.lastKnown;
      const lastKnown = {
        ...cluster.lastKnown,
        readPods: () =>
          readPods().pipe(
            map((known) => known && { ...known, pods: [...(evils(random, 20) as readonly Pod[]), ...known.pods] }),
          ),
      };
      return {
        ...ports,
        cluster: { ...cluster, lastKnown, api: hostile(cluster.api, { random, isAway: () => isAway }) },
      };
    },
  });
  const create = (name: string) =>
    server.do({
      method: 'POST',
      path: '/api/v1/namespaces/default/pods',
      body: {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
        spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.test/web:1' }] },
      },
    });
  return {
    ...{ node, create },
    pass: (ms: number) => scheduler.runUntil(scheduler.now() + ms),
    goAway: () => (isAway = true),
    startsOf: (name: string) =>
      told.filter((event) => event.kind === 'container-started' && event.pod === name && event.container === 'main')
        .length,
    events: () => told.flatMap((event) => (event.kind === 'journal' ? [event.entry] : [])),
  };
};

/** Directories and files below that of the pods and that of their logs. */
const ALLOWED = /^\/[A-Za-z0-9._/-]*$/;

describe('an API server that says anything', () => {
  it.each(Array.from({ length: 8 }, (_, seed) => [seed]))(
    'ends no agent and keeps no pod away, nor does what it had said once, with seed %i',
    (seed) => {
      const { node, create, pass, goAway, startsOf } = stage(seed);
      create('web');
      node.start();
      pass(MINUTE);
      expect(startsOf('web')).toBe(1);
      create('later');
      pass(MINUTE);
      expect([node.isAlive(), startsOf('later')]).toEqual([true, 1]);

      node.kill();
      goAway();
      node.start();
      pass(2 * MINUTE);
      expect([node.isAlive(), startsOf('web'), startsOf('later')]).toEqual([true, 1, 1]);
      expect(node.pods().map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['web', 'later']));
      const odd = node.disk.paths().filter((path) => !ALLOWED.test(path) || path.split('/').includes('..'));
      expect(odd).toEqual([]);
    },
  );

  it('reports what is refused in an event of that pod', () => {
    const { node, pass, events } = stage(1);
    node.start();
    pass(MINUTE);
    const refusals = events().filter((entry) => entry.kind === 'event' && entry.reason === 'FailedValidation');
    expect(refusals.length).toBeGreaterThan(3);
  });
});

import { expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import { type SeededRandom, seededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import { podReferences } from '../../../src/streams/references/pod-references.js';
import { memoryLastKnown } from '../../support/memory-last-known.js';
import { apiStage, NODE } from './api-stage.js';

const MINUTE = 60_000;
const NAMES = ['a', 'b', 'c', 'd'];
const PODS = ['p', 'q', 'r'];
/** Services and classes are always followed. */
const ALWAYS = 2;
const nothing = () => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Pods that come, change and go, objects that do, and a server that is away, forgets and falls silent; what is known in the end. */
const live = (random: SeededRandom) => {
  const { scheduler, server, pass } = apiStage();
  const disk = memoryLastKnown();
  const begin = () => {
    const api = apiClient(server.connect(NODE), { qps: -1, burst: 0, scheduler });
    const references = podReferences(
      { api, scheduler, wallClock: scheduler.now, random: random.next, log, lastKnown: disk },
      { syncFrequencyMs: MINUTE },
    );
    return { references, running: references.run$.subscribe() };
  };
  let { references, running } = begin();
  const pods = new Map<string, Pod>();
  const said: string[] = [];
  const path = (plural: string, name?: string) => `/api/v1/namespaces/default/${plural}${name ? `/${name}` : ''}`;
  const onServer = (name: string) =>
    (server.get(path('configmaps', name)) as { readonly data?: { readonly V: string } } | undefined)?.data?.V;

  let version = 0;
  const steps: Readonly<Record<string, () => void>> = {
    write: () => {
      const name = random.pick(NAMES);
      const body = { metadata: { name }, data: { V: `${++version}` }, immutable: false };
      if (onServer(name) === undefined) server.do({ method: 'POST', path: path('configmaps'), body });
      else server.do({ method: 'PUT', path: path('configmaps', name), body });
    },
    delete: () => {
      const name = random.pick(NAMES);
      if (onServer(name) !== undefined) server.do({ method: 'DELETE', path: path('configmaps', name) });
    },
    come: () => {
      const name = random.pick(PODS);
      const envFrom = NAMES.filter(() => random.chance(0.5)).map((of) => ({ configMapRef: { name: of } }));
      const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.test/web:1', envFrom }] };
      if (pods.has(name)) return;
      pods.set(name, server.do({ method: 'POST', path: path('pods'), body: { metadata: { name }, spec } }) as Pod);
      references.register(pods.get(name)!);
    },
    go: () => {
      const pod = pods.get(random.pick(PODS));
      if (!pod) return;
      references.unregister(pod);
      pods.delete(pod.metadata.name);
      const body = { gracePeriodSeconds: 0 };
      server.do({ method: 'DELETE', path: path('pods', pod.metadata.name), body });
    },
    read: () => void references.configMap('default', random.pick(NAMES)).subscribe({ error: nothing }),
    restart: () => server.restart(random.integer(1, 10 * MINUTE)),
    reset: () => server.breakWatches('reset'),
    silence: () => server.breakWatches('silent'),
    compact: () => server.compact(),
    wait: () => pass(random.integer(1, 10 * MINUTE)),
    die: () => {
      running.unsubscribe();
      ({ references, running } = begin());
      for (const pod of pods.values()) references.register(pod);
    },
  };
  for (let step = 0; step < 60; step++) {
    const kind = random.pick(Object.keys(steps));
    const isWrite = ['write', 'delete', 'come', 'go'].includes(kind);
    if (isWrite && !server.isUp()) continue;
    said.push(kind);
    steps[kind]!();
    pass(random.integer(0, 500));
  }
  pass(20 * MINUTE);

  const wanted = new Set(
    [...pods.values()].flatMap(({ spec }) =>
      spec.containers[0]!.envFrom!.map(({ configMapRef }) => configMapRef!.name!),
    ),
  );
  const known = new Map<string, string>();
  for (const name of NAMES)
    references.configMap('default', name).subscribe({
      next: ({ data }) => known.set(name, data?.['V'] ?? ''),
      error: (error: unknown) => known.set(name, (error as Error).message),
    });
  pass(5_000);
  const expected = NAMES.map((name) => [
    name,
    wanted.has(name)
      ? (onServer(name) ?? `configmap "${name}" not found`)
      : `object "default"/"${name}" not registered`,
  ]);
  const followed = server.openWatches();
  for (const pod of pods.values()) references.unregister(pod);
  const left = server.openWatches();
  const onDisk = [...disk.onDisk.keys()].filter((key) => key.startsWith('ConfigMap'));
  running.unsubscribe();
  return {
    found: { known: Object.fromEntries(known), followed, left, onDisk, open: server.openWatches() },
    expected: {
      known: Object.fromEntries(expected) as Record<string, string>,
      followed: ALWAYS + wanted.size,
      left: ALWAYS,
      onDisk: [],
      open: 0,
    },
    said,
  };
};

const seeds = Array.from({ length: 40 }, (_, index) => index);
it.each(seeds)(
  'what pods refer to is known after any history, and nothing else is followed or kept: seed %i',
  (seed) => {
    const { found, expected, said } = live(seededRandom(`references ${seed}`));
    expect(found, said.join(' ')).toEqual(expected);
  },
);

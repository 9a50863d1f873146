import { NEVER, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { assembleCluster, sourceNames } from '../../src/assemble-cluster.js';
import type { KubeletOptions, KubeletPorts } from '../../src/kubelet-options.js';
import { noMetrics } from '../../src/streams/ports/metrics.js';
import { runtimeHealth } from '../../src/streams/runtime-health/runtime-health.js';
import { kubeletState } from '../../src/streams/sync-loop/kubelet-state.js';
import { nodeFacts } from '../support/node-facts.js';
import { nodeSettings } from '../support/node-object.js';
import { only } from '../support/sync-context.js';

const nothing = (): void => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const scheduler = new TestScheduler(() => true);
const shared = { scheduler, log, metrics: noMetrics, random: () => 0, wallClock: () => 0, record: () => 'j1' };
const runtime = only<KubeletPorts['runtime']>({ status: () => NEVER });
const given = only<KubeletPorts>({
  ...{ ...shared, runtime, node: nodeFacts, recordEvent: nothing, pullSecrets: () => of([]) },
  cluster: only<NonNullable<KubeletPorts['cluster']>>({
    api: only({}),
    resetConnections: nothing,
    readMachine: () => NEVER,
  }),
});
const sources: KubeletOptions['sources'] = { file: NEVER };
const cluster: NonNullable<KubeletOptions['cluster']> = { node: nodeSettings };
const assembled = (options: KubeletOptions, ports = given) => {
  const state = kubeletState();
  const health = runtimeHealth({ ...shared, runtime, state });
  return assembleCluster(ports, options, { state, health, syncFrequencyMs: 60_000 });
};

describe('a node of a cluster', () => {
  it('has the pods of the API server as one more source, and what the cluster has in the place of its own', () => {
    const { ports, sources: all, references, loop } = assembled({ sources, cluster });
    expect(Object.keys(all)).toEqual(['api', 'file']);
    expect(sourceNames(given, { sources, cluster })).toEqual(['api', 'file']);
    expect(ports.recordEvent).not.toBe(given.recordEvent);
    expect(ports.pullSecrets).not.toBe(given.pullSecrets);
    expect([references.podToken, references.runtimeClasses, loop.podStarts].map((one) => typeof one)).toEqual([
      ...['function', 'function', 'object'],
    ]);
    expect(loop.setObjects).toBeUndefined();
  });

  it('has a source and runtime classes of its options in the place of those of the cluster', () => {
    const mine = { api: NEVER, file: NEVER };
    const runtimeClasses = () => 'mine';
    const options: KubeletOptions = { sources: mine, cluster, runtimeClasses };
    expect(assembled(options).sources['api']).toBe(mine.api);
    expect(assembled(options).references.runtimeClasses).toBe(runtimeClasses);
    expect(sourceNames(given, options)).toEqual(['api', 'file']);
  });
});

describe.each([
  ['its options name no cluster', given, { sources }],
  ['it has no ports for one', { ...given, cluster: undefined }, { sources, cluster }],
])('a node stands alone if %s', (_, ports, options) => {
  it('and has only the sources of its options, whose objects its pods use', () => {
    const parts = assembled(options, ports);
    expect(sourceNames(ports, options)).toEqual(['file']);
    expect(Object.keys(parts.sources)).toEqual(['file']);
    expect(parts.ports.recordEvent).toBe(given.recordEvent);
    expect(parts.loop.setObjects).toBeTypeOf('function');
    expect([parts.node(), parts.references.podToken, parts.loop.podStarts]).toEqual([undefined, undefined, undefined]);
  });
});

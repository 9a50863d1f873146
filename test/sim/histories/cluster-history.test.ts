import { describe, expect, it } from 'vitest';
import { validatePod } from '../../../src/model/manifest/validate-pod.js';
import type { StoredObject } from '../../../src/tools/sim/api-server/stored-object.js';
import type { FaultKind } from '../../../src/tools/sim/faults/fault.js';
import type { ClusterChange } from '../../../src/tools/sim/histories/cluster-plan.js';
import { describeHistory } from '../../../src/tools/sim/histories/describe-history.js';
import { generateClusterHistory } from '../../../src/tools/sim/histories/generate-cluster-history.js';
import type { History } from '../../../src/tools/sim/histories/history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import { shrinkHistory } from '../../../src/tools/sim/histories/shrink-history.js';
import type { WorldEvent } from '../../../src/tools/sim/world/world-event.js';

const SEEDS = 600;
const histories = Array.from({ length: SEEDS }, (_, seed) => generateClusterHistory(seed));
const changesOf = ({ cluster }: History): readonly ClusterChange[] => cluster?.changes ?? [];
const having = (has: (history: History) => boolean): number => histories.filter(has).length;
const withFault = (kind: FaultKind) => (history: History) => history.faults.some((fault) => fault.kind === kind);
const withChange = (has: (change: ClusterChange) => boolean) => (history: History) => changesOf(history).some(has);

describe('the history of a node in a cluster', () => {
  it('is always the same for a seed, plain data, and another one for another seed', () => {
    expect(generateClusterHistory(42)).toEqual(generateClusterHistory(42));
    expect(new Set(histories.map((history) => JSON.stringify(history))).size).toBe(SEEDS);
    for (const history of histories.slice(0, 50)) expect(JSON.parse(JSON.stringify(history))).toEqual(history);
  });

  it('has users who create only what they may, in the order of time, and is quiet at its end', () => {
    for (const history of histories.slice(0, 200)) {
      const changes = changesOf(history);
      for (const change of changes) if (change.kind === 'create') expect(validatePod(change.pod, [])).toEqual([]);
      const times = changes.map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(times.at(-1)).toBeLessThanOrEqual(history.quietFromMs);
      expect(history.endMs - history.quietFromMs).toBeGreaterThanOrEqual(240_000);
    }
  });

  it.each<[string, (history: History) => boolean]>([
    ['deletions', withChange(({ kind }) => kind === 'delete')],
    ['deletions by force', withChange((change) => change.kind === 'delete' && change.graceSeconds === 0)],
    ['changes', withChange(({ kind }) => kind === 'patch')],
    ['conditions of others', withChange(({ kind }) => kind === 'patch-status')],
    ['nodes that are deleted', withChange(({ kind }) => kind === 'delete-node')],
    ['static pods', ({ pods }) => pods.length > 0],
    ...(['api-late', 'api-refused', 'api-reply-lost', 'api-silent', 'api-gone', 'api-cut'] as const).map(
      (kind) => [kind, withFault(kind)] as [string, (history: History) => boolean],
    ),
    ...(['api-watches-break', 'api-restarts', 'api-forgets', 'agent-killed'] as const).map(
      (kind) => [kind, withFault(kind)] as [string, (history: History) => boolean],
    ),
  ])('has %s often enough', (_, has) => {
    expect(having(has)).toBeGreaterThan(SEEDS / 40);
  });
});

/** What the history does in its order, and what came of the pods in the API. */
const lived = (history: History) => {
  const events: WorldEvent[] = [];
  const { violations } = runHistory(history, { tell: (event) => events.push(event) });
  const pods = new Map<string | undefined, StoredObject>();
  for (const event of events) {
    if (event.kind !== 'api-changed' || event.resource !== 'pods') continue;
    if (event.type === 'DELETED') pods.delete(event.object.metadata.name);
    else pods.set(event.object.metadata.name, event.object);
  }
  return { violations, events, pods };
};

const quiet: History = {
  ...{ seed: 1, pods: [], faults: [], behaviours: {}, quietFromMs: 60_000, endMs: 180_000 },
  node: { eventedPleg: false, syncFrequencyMs: 10_000, maxRestartBackOffMs: 10_000, parallelPulls: 1 },
  cluster: { changes: [], latencyMs: { min: 1, max: 5 }, cacheLagMs: { min: 0, max: 0 }, keptChanges: 100 },
};
const create = (atMs: number, name: string): ClusterChange => ({
  ...{ kind: 'create', atMs },
  pod: {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
    spec: {
      ...{ nodeName: 'node-1', restartPolicy: 'Always', terminationGracePeriodSeconds: 1 },
      containers: [{ name: 'main', image: 'registry.test/web:1' }],
    },
  },
});
const withChanges = (...changes: readonly ClusterChange[]): History => ({
  ...quiet,
  cluster: { ...quiet.cluster!, changes },
});

describe('a run of such a history', () => {
  it('ends with what its users have asked for', () => {
    const { violations, pods } = lived(
      withChanges(
        create(0, 'stays'),
        create(0, 'goes'),
        { kind: 'delete', atMs: 20_000, pod: 'goes' },
        { kind: 'patch', atMs: 21_000, pod: 'stays', patch: { metadata: { labels: { a: 'b' } } } },
        { kind: 'patch', atMs: 22_000, pod: 'never', patch: { metadata: { labels: { a: 'b' } } } },
      ),
    );
    expect(violations).toEqual([]);
    expect([...pods.keys()]).toEqual(['stays']);
    expect(pods.get('stays')).toMatchObject({ metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } });
  });

  it('creates the next pod of a name once the one before it has gone', () => {
    const { violations, events } = lived(
      withChanges(create(0, 'web'), { kind: 'delete', atMs: 20_000, pod: 'web' }, create(20_001, 'web')),
    );
    const story = events.flatMap((event) =>
      event.kind === 'api-changed' && event.resource === 'pods' && event.type !== 'MODIFIED' ? [event.type] : [],
    );
    expect(violations).toEqual([]);
    expect(story).toEqual(['ADDED', 'DELETED', 'ADDED']);
  });

  it('goes on after the server was away, with what was asked for meanwhile', () => {
    const faults = [{ kind: 'api-restarts', atMs: 10_000, downMs: 15_000 } as const];
    const { violations, pods } = lived({ ...withChanges(create(0, 'before'), create(12_000, 'meanwhile')), faults });
    expect(violations).toEqual([]);
    expect([...pods.values()].map(({ status }) => status?.['phase'])).toEqual(['Running', 'Running']);
  });

  it('brings a node back that was deleted', () => {
    const { violations, events } = lived(withChanges(create(0, 'web'), { kind: 'delete-node', atMs: 30_000 }));
    const story = events.flatMap((event) =>
      event.kind === 'api-changed' && event.resource === 'nodes' && event.type !== 'MODIFIED' ? [event.type] : [],
    );
    expect(violations).toEqual([]);
    expect(story).toEqual(['ADDED', 'DELETED', 'ADDED']);
  });

  it('is described with everything that its users do', () => {
    const text = describeHistory(
      withChanges(create(0, 'web'), { kind: 'delete', atMs: 1_000, pod: 'web', graceSeconds: 0 }),
    ).join('\n');
    expect(text).toContain('API server: ');
    expect(text).toContain('user creates web: restarts Always');
    expect(text).toContain('user deletes web within 0 s');
  });

  it('is made shorter by what its users do', () => {
    const long = withChanges(create(0, 'a'), create(1, 'b'), create(2, 'c'), { kind: 'delete', atMs: 9, pod: 'a' });
    const fails = (history: History) =>
      changesOf(history).some((change) => change.kind === 'create' && change.pod.metadata.name === 'b');
    const { history } = shrinkHistory(long, { fails });
    expect(changesOf(history)).toHaveLength(1);
  });
});

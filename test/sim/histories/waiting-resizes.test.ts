import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import type { History, PodPlan } from '../../../src/tools/sim/histories/history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';

/** A pod of the API that requests this much CPU: its container, or the pod as a whole. */
const pod = (name: string, generation: number, cpu: string, asWhole = false): Pod => {
  const resources = { requests: { cpu } };
  const containers = [{ name: 'main', image: 'app:1', ...(!asWhole && { resources }) }];
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', uid: `uid-${name}`, generation } },
    spec: { nodeName: 'node-1', restartPolicy: 'Always', containers, ...(asWhole && { resources }) },
    status: { phase: 'Pending' },
  };
};

/** Two pods on a node with two CPUs. The first one asks for all of them; then the agent is killed. */
const history = (asWhole: boolean, asksAtMs: number): History => {
  const changes: PodPlan['changes'] = [
    { atMs: 0, pod: pod('greedy', 1, '500m', asWhole) },
    { atMs: asksAtMs, pod: pod('greedy', 2, '2', asWhole) },
  ];
  const { node, seed } = generateHistory(5);
  return {
    seed,
    node: { ...node, facts: { allocatable: { cpu: '2', memory: '1Gi', pods: '110' } } },
    pods: [
      { key: 'greedy', source: 'api', changes },
      { key: 'other', source: 'api', changes: [{ atMs: 0, pod: pod('other', 1, '500m') }] },
    ],
    behaviours: {},
    faults: [{ kind: 'agent-killed', atMs: 20_000, downMs: 10_000 }],
    quietFromMs: 40_000,
    endMs: 300_000,
  };
};

describe('a pod that asks for more than the node has', () => {
  it.each([
    ['before the agent is killed', false, 10_000],
    ['as a whole, before the agent is killed', true, 10_000],
    ['as a whole, while no agent runs', true, 25_000],
  ] as const)('takes no room from another one that runs, after a restart of the agent: %s', (_, asWhole, asksAtMs) => {
    const rejected: string[] = [];
    const ended: string[] = [];
    const { violations } = runHistory(history(asWhole, asksAtMs), {
      tell: (event) => {
        if (event.kind === 'container-exited') ended.push(event.pod);
        if (event.kind === 'journal' && event.entry.kind === 'admission-rejected')
          rejected.push(`${event.entry.pod?.name} ${event.entry.message}`);
      },
    });
    expect({ rejected, ended, violations }).toEqual({ rejected: [], ended: [], violations: [] });
  });
});

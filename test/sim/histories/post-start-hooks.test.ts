import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod/pod.js';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import type { History } from '../../../src/tools/sim/histories/history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import type { WorldEvent } from '../../../src/tools/sim/world/world-event.js';

const warmUp: Pick<Container, 'lifecycle'> = { lifecycle: { postStart: { exec: { command: ['warm-up'] } } } };
const sidecar: Container = { name: 'proxy', image: 'app:1', restartPolicy: 'Always', ...warmUp };
const main: Container = { name: 'main', image: 'app:1', ...warmUp };

/** A pod whose postStart commands take 8 s each. */
const history = (
  restartPolicy: 'Always' | 'Never',
  faults: History['faults'],
  containers: readonly Container[] = [main],
) => {
  const { node, seed } = generateHistory(5);
  const hooked: History = {
    seed,
    node: { ...node, eventedPleg: false },
    pods: [
      {
        key: 'web',
        source: 'file',
        changes: [
          {
            atMs: 0,
            pod: {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: { name: 'web', namespace: 'default', uid: 'uid-web' },
              spec: { restartPolicy, initContainers: [sidecar], containers: [...containers] },
            },
          },
        ],
      },
    ],
    behaviours: { containers: { '*': [{ commands: [{ contains: 'warm-up', takesMs: 8_000 }] }] } },
    faults,
    quietFromMs: 25_000,
    endMs: 60_000,
  };
  return hooked;
};

/** What the history comes to: its violations, and the containers that were started and those whose hook has ended well. */
const outcome = (of: History) => {
  const started: string[] = [];
  const hooked = new Set<string>();
  const killed: number[] = [];
  const events: WorldEvent[] = [];
  const { violations } = runHistory(of, {
    tell: (event) => {
      events.push(event);
      if (event.kind === 'container-started') started.push(event.container);
      if (event.kind === 'agent-killed') killed.push(event.at);
      if (event.kind === 'asked' && event.ok) hooked.add(event.containerId);
    },
  });
  return { violations, started, hooked: hooked.size, kills: killed.length, repeats: repeats(events) };
};

const repeats = (events: readonly WorldEvent[]): number =>
  events.filter((event) => event.kind === 'journal' && JSON.stringify(event.entry).includes('RepeatedPostStartHook'))
    .length;

const countUntil = (isOver: (number: number) => boolean): number => {
  for (let number = 1; ; number += 1) if (isOver(number)) return number;
};

describe.each(['Always', 'Never'] as const)('a postStart hook of a pod that restarts %s', (policy) => {
  it('is run once without a kill', () => {
    expect(outcome(history(policy, []))).toEqual({
      ...{ violations: [], started: ['proxy', 'main'], hooked: 2, kills: 0, repeats: 0 },
    });
  });

  it.each([
    ['first', 3_000],
    ['second', 12_000],
  ])('is run again by the agent that comes after a kill in the middle of the %s one', (_which, atMs) => {
    const faults: History['faults'] = [{ kind: 'agent-killed', atMs, downMs: 500 }];
    expect(outcome(history(policy, faults))).toEqual({
      ...{ violations: [], started: ['proxy', 'main'], hooked: 2, kills: 1, repeats: 1 },
    });
  });

  it('is run whenever the agent is killed', () => {
    const last = countUntil((atStep) => {
      const when = atStep % 2 === 0 ? 'asked' : 'answered';
      const found = outcome(history(policy, [{ kind: 'agent-killed', atStep, when, downMs: 500 }]));
      if (found.kills > 0) expect(found, `${when} ${atStep}`).toMatchObject({ violations: [], hooked: 2 });
      return found.kills === 0;
    });
    // The pass that starts the pod alone takes more steps than that.
    expect(last).toBeGreaterThan(20);
  });
});

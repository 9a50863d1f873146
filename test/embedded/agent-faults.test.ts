import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentFaultStage } from './agent-fault-stage.js';

/** `FAULT_RUNS=1000 FAULT_SEED=1 npx vitest run test/embedded/agent-faults.test.ts` makes a thousand, from that seed on. */
const RUNS = Number(process.env.FAULT_RUNS ?? 8);
const FIRST = Number(process.env.FAULT_SEED ?? 1);
/** Nodes side by side, every second one in a cluster: most of a run is waiting for the next try. */
const NODES = Number(process.env.FAULT_NODES ?? 2);
const SLOW_MACHINE_MS = 240_000 + (RUNS * 120_000) / NODES;

const stages: AgentFaultStage[] = [];
beforeAll(async () => {
  for (let node = 0; node < NODES; node += 1) {
    const stage = new AgentFaultStage();
    stages.push(stage);
    await stage.open(node % 2 === 1);
  }
}, NODES * 240_000);
afterAll(async () => {
  for (const stage of stages) await stage.dispose();
}, NODES * 240_000);

it(
  `hurts nothing that is well in ${RUNS} runs with an agent whose files, processes and sockets fail, from seed ${FIRST} on`,
  async () => {
    let next = FIRST;
    let isBroken = false;
    const runsOf = async (stage: AgentFaultStage): Promise<void> => {
      while (next < FIRST + RUNS && !isBroken) await stage.strike(next++);
      await stage.expectWholeLog();
    };
    // Each ends its run before a node is taken down.
    const outcomes = await Promise.allSettled(
      stages.map((stage) =>
        runsOf(stage).catch((error: unknown) => {
          isBroken = true;
          throw error;
        }),
      ),
    );
    const broken = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    expect(broken.join('\n\n')).toBe('');
    const struck = stages.flatMap(({ failed }) => [...failed]);
    const faults = struck.reduce((sum, [, count]) => sum + count, 0);
    const refusals = stages.flatMap((stage) => [...stage.refusals]);
    if (RUNS > 20) {
      const kinds = new Set(struck.map(([kind]) => kind));
      const longest = Math.max(...stages.map(({ longestRecoveryMs }) => longestRecoveryMs));
      const recovery = `all as it should be ${(longest / 1000).toFixed(1)} s after the end of the faults at the latest`;
      console.log(
        `${RUNS} runs, ${faults} faults of ${kinds.size} kinds; ${recovery}; agents that could not begin:`,
        refusals,
      );
    }
    expect(faults).toBeGreaterThan(RUNS);
  },
  SLOW_MACHINE_MS,
);

/**
 * The costs of simulated nodes: `npx tsx bench/simulation.ts [nodes] [pods per node] [minutes]`. Default: 1,000 nodes with 30 pods for 10
 * simulated minutes. All nodes share one clock and one process; each is the whole agent in its own world.
 */
import { concat, map, NEVER, timer } from 'rxjs';
import type { Pod } from '../src/model/pod/pod.js';
import { podSet } from '../src/model/pod/pod-set.js';
import type { NodeBehaviours } from '../src/tools/sim/world/behaviour.js';
import { seededRandom } from '../src/tools/sim/world/seeded-random.js';
import { simulatedNode } from '../src/tools/sim/simulated-node.js';
import { VirtualScheduler } from '../src/tools/sim/world/virtual-scheduler.js';

const [nodes = 1000, podsPerNode = 30, minutes = 10] = process.argv.slice(2).map(Number);
const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

/** Two of three pods just run; one of six is probed, and one of six crashes or ends. */
const behaviours: NodeBehaviours = {
  containers: {
    crash: [{ exitsAfterMs: 20_000, exitCode: 1 }],
    job: [{ exitsAfterMs: 90_000 }],
    slow: [{ readyAfterMs: 12_000 }],
    '*': [{}],
  },
};

const podOf = (node: number, index: number): Pod => {
  const name = index % 12 === 0 ? 'crash' : index % 12 === 6 ? 'job' : index % 6 === 3 ? 'slow' : 'web';
  const probe = { tcpSocket: { port: 80 }, periodSeconds: 10 };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-${index}`, namespace: 'default', uid: `${node}-${index}` },
    spec: {
      restartPolicy: name === 'job' ? 'Never' : 'Always',
      containers: [{ name, image: 'host', ...(name === 'slow' && { readinessProbe: probe, livenessProbe: probe }) }],
    },
  };
};

const scheduler = new VirtualScheduler({ tieBreak: seededRandom('ties').next });
const startedAt = process.hrtime.bigint();
const counts = { calls: 0, starts: 0, exits: 0, statuses: 0, journal: 0 };

const world = Array.from({ length: nodes }, (_, number) => {
  const pods = Array.from({ length: podsPerNode }, (_, index) => podOf(number, index));
  // The nodes do not start in the same millisecond.
  const source$ = concat(timer(number % 1000, scheduler).pipe(map(() => podSet(pods))), NEVER);
  const node = simulatedNode({
    seed: number,
    scheduler,
    behaviours,
    nodeName: `node-${number}`,
    sources: { file: source$ },
    tell: ({ kind }) => {
      if (kind === 'call') counts.calls += 1;
      else if (kind === 'container-started') counts.starts += 1;
      else if (kind === 'container-exited') counts.exits += 1;
      else if (kind === 'status') counts.statuses += 1;
      else if (kind === 'journal') counts.journal += 1;
    },
  });
  node.start();
  return node;
});

const beginMs = scheduler.now();
let peakBytes = 0;
for (let minute = 1; minute <= minutes; minute++) {
  scheduler.runUntil(beginMs + minute * MINUTE_MS);
  peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
}
const wallSeconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
const cpu = process.cpuUsage();

const running = world.reduce(
  (sum, node) => sum + node.pods().filter(({ status }) => status?.phase === 'Running').length,
  0,
);
const done = world.reduce(
  (sum, node) => sum + node.pods().filter(({ status }) => status?.phase === 'Succeeded').length,
  0,
);
if (running + done !== nodes * podsPerNode) {
  throw new Error(`${running} pods run and ${done} are done, of ${nodes * podsPerNode}`);
}
for (const node of world) node.dispose();

const podHours = (nodes * podsPerNode * minutes) / 60;
const figures = {
  'nodes x pods x minutes': `${nodes} x ${podsPerNode} x ${minutes}`,
  'wall time': `${wallSeconds.toFixed(1)} s`,
  'CPU time': `${((cpu.user + cpu.system) / 1e6).toFixed(1)} s`,
  'simulated pod-hours per second': (podHours / wallSeconds).toFixed(0),
  'times faster than real time': ((minutes * 60) / wallSeconds).toFixed(1),
  'largest resident memory': `${(peakBytes / MIB).toFixed(0)} MiB`,
  'memory per node': `${(peakBytes / 1024 / nodes).toFixed(0)} KiB`,
  ...{ 'calls of the runtime': counts.calls, 'containers started': counts.starts, 'containers ended': counts.exits },
  ...{ 'statuses looked at': counts.statuses, 'journal entries': counts.journal },
};
for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(32)} ${value}`);

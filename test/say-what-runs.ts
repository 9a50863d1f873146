// The first lines of `npm test`: how long it takes, and what it leaves out on this machine.
import { lackingForContainerd } from './containerd/lacking.js';
import { lackingForCluster } from './cluster/lacking.js';
import { canFakeTime } from './embedded/faked-clock.js';
import { hasPromtool } from './embedded/promtool.js';
import { lackingForBus } from './edges/host/logind/bus-stage.js';

const isRoot = process.geteuid?.() === 0;
const leftOut = [
  ...(isRoot ? [] : ['what only root may do: mounts, cgroups, other users']),
  ...(canFakeTime ? [] : ['an agent with a wrong clock; missing: faketime']),
  ...(hasPromtool ? [] : ['what promtool says about the metrics; missing: promtool, of the package prometheus']),
  ...(lackingForBus.length > 0 ? [`the shutdown of a machine over a bus; missing: ${lackingForBus.join(', ')}`] : []),
  ...(lackingForContainerd.length > 0
    ? [`the agent over a real containerd; missing: ${lackingForContainerd.join(', ')}`]
    : []),
  ...(lackingForCluster.length > 0 ? [`the agent in a real cluster; missing: ${lackingForCluster.join(', ')}`] : []),
];
/** Of two processors: without a clock and edges, containerd, cluster. */
const minutes = 12 + (lackingForContainerd.length > 0 ? 0 : 10) + (lackingForCluster.length > 0 ? 0 : 4);

console.log(
  [
    `All tests together take some ${minutes} minutes on two processors, first those without a clock.`,
    '`npm run test:fast` runs these alone, in four minutes; `npx vitest run FILE` runs one file.',
    ...(leftOut.length > 0
      ? ['Left out on this machine:', ...leftOut.map((what) => `  ${what}`)]
      : ['Nothing is left out.']),
    '',
  ].join('\n'),
);

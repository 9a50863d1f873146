import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const source = (file: string): string => fileURLToPath(new URL(`src/${file}`, import.meta.url));

/** These wait for real processes, files and servers. */
const EDGES = ['test/edges/**'];
const OF_AGENTS = ['test/embedded/**', 'test/containerd/**', 'test/cluster/**'];

const testsIn = (folders: readonly string[]): string[] => folders.map((folder) => `${folder}/*.test.ts`);

/** They take one to three minutes, mostly of waiting. What is begun last is what everything waits for in the end. */
const LONGEST = [
  ...['containerd/garbage', 'containerd/bad-runtime', 'containerd/events', 'containerd/kills', 'containerd/logs'],
  ...[
    'embedded/record-replay',
    'embedded/agent-kills',
    'embedded/plan',
    'edges/embedded/crash',
    'embedded/runtime-kills',
  ],
  ...['embedded/event-races', 'embedded/main-job', 'cluster/bootstrap', 'cluster/server-outage', 'cluster/references'],
  ...['cluster/volume-strategies'],
  ...['mutations/mutations', 'sim/recording/to-test', 'sim/recording/histories'],
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  // Examples import this package by its name, as their readers will.
  resolve: {
    alias: [
      { find: /^rx-kubelet$/, replacement: source('index.ts') },
      { find: /^rx-kubelet\/node$/, replacement: source('node.ts') },
      { find: /^rx-kubelet\/sim$/, replacement: source('sim.ts') },
      { find: /^rx-kubelet\/marbles$/, replacement: source('marbles.ts') },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'without a clock',
          include: ['test/**/*.test.ts'],
          exclude: [...EDGES, ...OF_AGENTS],
          // Most of their time went by in loading the same modules for each file. No module of theirs has hooks or a state of its own.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'edges',
          include: testsIn(EDGES),
          // As above: to load modules took a third of the processors' time.
          isolate: false,
          // After all others: what waits for real processes is measured by a clock that they would hold up.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'with a clock',
          include: testsIn(OF_AGENTS),
          // As above. What these tests change is another process, or a folder of their own.
          isolate: false,
          globalSetup: ['test/cluster/global-setup.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/fixed-draws.ts'],
    // More than two of the longest waits for a process, and the start of its fixtures: the failure says then what was waited for.
    testTimeout: Number(process.env.TEST_TIMEOUT_MS ?? 240_000),
    hookTimeout: 240_000,
    // Tests beside each other start containers, agents and servers: with more of them a machine of two cores measures its own load.
    maxConcurrency: 2,
  },
});

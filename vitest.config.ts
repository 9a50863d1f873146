import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (file: string): string => fileURLToPath(new URL(`src/${file}`, import.meta.url));

export default defineConfig({
  // Examples import this package by its name, as their readers will.
  resolve: {
    alias: [
      { find: /^rx-kubelet$/, replacement: source('index.ts') },
      { find: /^rx-kubelet\/node$/, replacement: source('node.ts') },
      { find: /^rx-kubelet\/sim$/, replacement: source('sim.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/cluster/global-setup.ts'],
    setupFiles: ['test/support/fixed-draws.ts'],
    // More than two of the longest waits for a process, and the start of its fixtures: the failure says then what was waited for.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Tests beside each other start containers, agents and servers: with more of them a machine of two cores measures its own load.
    maxConcurrency: 2,
  },
});

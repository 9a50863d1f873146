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
    // More than the longest wait for a process: the failure says then what was waited for.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});

import { expect, it } from 'vitest';
import { SlowCalls } from '../../../src/tools/recording/incident/slow-calls.js';

type Call = readonly [port: string, fromMs: number, untilMs: number];

it.each<[what: string, calls: readonly Call[], ms: number]>([
  ['without a call', [], 0],
  ['with quick calls', [['runtime.listContainers', 0, 20]], 0],
  ['with a slow call', [['images.imageStatus', 10, 310]], 300],
  [
    'with slow calls one after the other',
    [
      ['runtime.createContainer', 0, 100],
      ['runtime.containerStatus', 600, 750],
    ],
    250,
  ],
  [
    'with slow calls at the same time, which end in another order',
    [
      ['runtime.podSandboxStatus', 50, 90],
      ['runtime.createContainer', 0, 100],
      ['runtime.listContainers', 80, 130],
    ],
    130,
  ],
  [
    'with two stretches of slow calls, of which the first is worse',
    [
      ['runtime.createContainer', 0, 200],
      ['runtime.createContainer', 701, 800],
    ],
    200,
  ],
  [
    'with long calls that a simulation has as they were',
    [
      ['images.pullImage', 0, 9_000],
      ['runtime.stopContainer', 0, 30_000],
      ['runtime.startContainer', 0, 400],
      ['runtime.runPodSandbox', 0, 800],
      ['runtime.execSync', 0, 5_000],
    ],
    0,
  ],
  ['with a slow call of another port', [['volumeFiles.found', 0, 9_000]], 0],
])('a recording %s is late by the open calls of its worst stretch', (_, calls, ms) => {
  const slow = new SlowCalls();
  for (const [port, at, untilMs] of calls) slow.ended({ port, args: [], at }, untilMs);
  expect(slow.longestMs()).toBe(ms);
});

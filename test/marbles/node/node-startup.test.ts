import { describe, expect, it } from 'vitest';
import { nodeStartup } from '../../../src/streams/node/node-startup.js';
import type { NodeStartup } from '../../../src/streams/node/node-startup.js';
import { marbles } from '../marbles.js';
import { at } from './node-stage.js';

type Steps = Readonly<Record<number, (startup: NodeStartup) => void>>;
/** What was measured, by an agent that starts at 100 s. */
const measured = (steps: Steps): Readonly<Record<string, number>> => {
  const told: Record<string, number> = {};
  marbles(({ scheduler }) => {
    const tell = (part: string, seconds: number) => {
      told[part] = seconds;
    };
    const startup = nodeStartup({ nodeStartup: tell }, { scheduler, wallClock: () => 100_000 + scheduler.now() });
    for (const [ms, step] of Object.entries(steps)) at(scheduler, Number(ms), () => step(startup));
    scheduler.flush();
  })();
  return told;
};
const attempted = (startup: NodeStartup) => startup.attempted();
const registered = (startup: NodeStartup) => startup.registered(40_000);
const ready = (startup: NodeStartup) => startup.ready();

describe('the start of a node', () => {
  it('is measured from the start of the machine, once', () => {
    const all = { 'pre-kubelet': 60, 'pre-registration': 0.5, registration: 1.5, 'post-registration': 3, total: 65 };
    const steps = { 500: attempted, 700: attempted, 2_000: registered, 5_000: ready };
    expect(measured(steps)).toEqual(all);
    expect(measured({ ...steps, 6_000: attempted, 7_000: registered, 8_000: ready })).toEqual(all);
  });

  it('is not measured from an unknown start of the machine', () => {
    const blind = (startup: NodeStartup) => startup.registered(undefined);
    expect(measured({ 500: attempted, 2_000: blind, 5_000: ready })).toEqual({
      ...{ 'pre-registration': 0.5, registration: 1.5, 'post-registration': 3 },
    });
  });

  it('is not measured where the Node existed before, also when it is created again later', () => {
    const found = (startup: NodeStartup) => startup.found();
    expect(measured({ 500: attempted, 600: found, 700: ready, 1_000: registered, 2_000: ready })).toEqual({});
  });
});

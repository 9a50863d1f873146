import { describe, expect, it } from 'vitest';
import type { InstanceBehaviour, NodeBehaviours } from '../../../src/tools/sim/world/behaviour.js';
import { runtimeStage } from './runtime-stage.js';

/** A container that runs; times are those since it was asked to stop. */
const stopped = (main: InstanceBehaviour, rest: NodeBehaviours = {}) => {
  const stage = runtimeStage({ containers: { main: [main] }, ...rest });
  const containerId = stage.run(stage.sandbox());
  const startMs = stage.scheduler.now();
  const before = stage.told.length;
  return {
    ...stage,
    stop: (timeout: bigint) => stage.ask(stage.simulated.runtime.stopContainer({ containerId, timeout })),
    until: (ms: number) => stage.scheduler.runUntil(startMs + ms),
    exits: () =>
      stage.told
        .slice(before)
        .flatMap((event) => (event.kind === 'container-exited' ? [`${event.at - startMs} ${event.exitCode}`] : [])),
    containerId,
    startMs,
  };
};

describe('StopContainer of the simulated runtime', () => {
  it('waits for a container that ends by its signal', () => {
    const { stop, until, exits, startMs } = stopped({ onStop: { kind: 'exits', afterMs: 700, exitCode: 0 } });
    const asked = stop(30n);
    until(700);
    expect(asked.heard()).toBe('nothing yet');
    until(100_000);
    expect(exits()).toEqual(['701 0']);
    expect(asked.heard()).toEqual({ value: {}, at: startMs + 702 });
  });

  it('ends one that does nothing about its signal with 143', () => {
    const { stop, until, exits } = stopped({});
    stop(30n);
    until(10);
    expect(exits()).toEqual(['1 143']);
  });

  it('kills one that hangs at the end of its grace', () => {
    const { stop, until, exits } = stopped({ onStop: { kind: 'hangs' } });
    stop(5n);
    until(100_000);
    expect(exits()).toEqual(['5001 137']);
  });

  it('kills one that is too slow, and at once without grace', () => {
    const slow = stopped({ onStop: { kind: 'exits', afterMs: 9000 } });
    slow.stop(5n);
    slow.until(100_000);
    expect(slow.exits()).toEqual(['5001 137']);
    const now = stopped({ onStop: { kind: 'exits', afterMs: 9000 } });
    now.stop(0n);
    now.until(100_000);
    expect(now.exits()).toEqual(['1 137']);
  });

  it('sends its signal once, and the shortest grace of several calls counts', () => {
    const { stop, until, exits } = stopped({ onStop: { kind: 'exits', afterMs: 9000 } });
    const first = stop(30n);
    until(4000);
    const second = stop(2n);
    until(100_000);
    expect(exits()).toEqual(['6001 137']);
    expect([first.heard(), second.heard()]).toMatchObject([{ value: {} }, { value: {} }]);
  });

  it('is answered at once for what does not run, or is not there', () => {
    const { stop, until, answer, simulated } = stopped({});
    stop(1n);
    until(10);
    answer(simulated.runtime.stopContainer({ containerId: 'nobody', timeout: 1n }));
    const again = stop(30n);
    until(20);
    expect(again.heard()).toMatchObject({ value: {} });
  });

  it('does not go on to kill when its caller has gone, unless the runtime is one that does', () => {
    const run = (stopOutlivesCaller: boolean) => {
      const { stop, until, exits } = stopped({ onStop: { kind: 'hangs' } }, { stopOutlivesCaller });
      const asked = stop(5n);
      until(1000);
      asked.subscription.unsubscribe();
      until(100_000);
      return exits();
    };
    expect(run(false)).toEqual([]);
    expect(run(true)).toEqual(['5001 137']);
  });

  it('has sent its signal even when its caller has gone', () => {
    const { stop, until, exits } = stopped({ onStop: { kind: 'exits', afterMs: 3000, exitCode: 0 } });
    const asked = stop(30n);
    until(1000);
    asked.subscription.unsubscribe();
    until(100_000);
    expect(exits()).toEqual(['3001 0']);
  });
});

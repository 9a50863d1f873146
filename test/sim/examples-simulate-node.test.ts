import { kubelet, replay, type RecordingHeader } from 'rx-kubelet';
import { describe, expect, it } from 'vitest';
import { simulateNode } from '../../examples/library/simulate-node.js';
import { aPod } from '../support/a-pod.js';

describe('examples/library/simulate-node', () => {
  const crash = aPod({
    name: 'crash',
    spec: { containers: [{ name: 'main', image: 'host' }] },
  });
  const behaviours = {
    containers: { main: [{ exitsAfterMs: 1000, exitCode: 1 }] },
    images: { '*': { isPresent: true } },
  };
  const day = () => simulateNode([crash], behaviours, { seed: 7, seconds: 600 });

  it('restarts what crashes, never before the back-off of 10 s, 20 s, 40 s, 80 s, 160 s is over', () => {
    const { starts } = day();
    const at = starts.map((line) => Number(line.split(' ')[0]));
    const waits = at.slice(1).map((start, index) => start - (at[index]! + 1));
    expect(new Set(starts.map((line) => line.split(' ')[1]))).toEqual(new Set(['crash/main']));
    expect(waits).toHaveLength(6);
    // The first restart does not wait.
    for (const [index, seconds] of [0, 10, 20, 40, 80, 160].entries()) expect(waits[index]).toBeGreaterThan(seconds);
  });

  it('is the same for the same seed', () => {
    expect(day().starts).toEqual(day().starts);
  });

  it('can be played again, and a changed agent is found out', () => {
    const [header, ...entries] = day().recording;
    const recording = { header: header as RecordingHeader, entries };
    expect(replay(recording, kubelet)).toMatchObject({ kind: 'same' });
    const changed = replay(recording, (ports, options) => kubelet(ports, { ...options, maxRestartBackOffMs: 60_000 }));
    expect(changed).toMatchObject({ kind: 'different', pod: { name: 'crash' } });
  });
});

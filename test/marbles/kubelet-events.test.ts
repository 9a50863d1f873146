import { describe, expect, it } from 'vitest';
import type { FakeRuntime } from '../support/fake-runtime.js';
import { forever, MINUTE, onNode, pod, SECOND, starts } from './virtual-node.js';

describe('events of the runtime', () => {
  const behaviours = { main: [{ exitsAfterMs: 100 * SECOND, exitCode: 1 }] };
  /** When PLEG has listed, in seconds: collecting garbage lists three times at the full minutes. */
  const relists = ({ listings }: FakeRuntime) =>
    listings.filter((at) => at < MINUTE || at % MINUTE > 3).map((at) => Math.round(at / SECOND));

  it('are enough: once they are there everything is listed every five minutes, and a death is noticed at once', () => {
    const { fake } = onNode({ behaviours, untilMs: 20 * MINUTE }, ({ start }) =>
      start({ eventedPleg: true, sources: { file: forever(pod()) } }),
    );
    // The first event shows that they are there.
    expect(relists(fake)).toEqual([0, 0, 300, 600, 900]);
    // At once, then 10, 20 and 40 s after the end, with the next tick.
    expect(starts(fake.history, 'main').slice(0, 5)).toEqual([0, 100, 211, 332, 473]);
  });

  it('that break are replaced by listings every second until they are back', () => {
    const { fake } = onNode({ behaviours, untilMs: 2 * MINUTE }, ({ start, fake: { breakEvents }, scheduler }) => {
      start({ eventedPleg: true, sources: { file: forever(pod()) } });
      scheduler.schedule(breakEvents, 70 * SECOND);
    });
    // The stream is opened again after a second, and taken for good after another one.
    expect(relists(fake)).toEqual([0, 0, 70, 71, 72]);
    expect(starts(fake.history, 'main')).toEqual([0, 100]);
  });

  it('tell of what a call does that was given up long before: of a sandbox that nobody wants any more', () => {
    const { fake } = onNode({ untilMs: 4 * MINUTE }, ({ start, scheduler, fake: { runtime } }) => {
      start({ eventedPleg: true, sources: { file: forever(pod()) } });
      const labels = {
        ...{ 'io.kubernetes.pod.uid': 'gone', 'io.kubernetes.pod.name': 'gone' },
        'io.kubernetes.pod.namespace': 'default',
      };
      const config = { metadata: { uid: 'gone', name: 'gone', namespace: 'default', attempt: 0 }, labels };
      scheduler.schedule(() => runtime.runPodSandbox({ config }).subscribe(), 100 * SECOND);
    });
    const ofGone = fake.history.filter((line) => line.includes(' gone')).map((line) => line.split(' '));
    expect(ofGone.map(([at, what]) => `${Math.round(Number(at) / SECOND)} ${what}`)).toEqual([
      '100 sandbox',
      // With the next housekeeping.
      '102 stop-sandbox',
    ]);
  });

  it('of what a worker does itself cost no read, but that its container runs does', () => {
    const { fake } = onNode({ untilMs: 900 }, ({ start }) => start({ sources: { file: forever(pod()) } }));
    const [sandboxAt = NaN, startedAt = NaN] = fake.history.map((line) => Number(line.split(' ')[0]));
    expect(fake.history.map((line) => line.split(' ')[1])).toEqual(['sandbox', 'start']);
    expect(fake.reads.filter((at) => at >= sandboxAt && at < startedAt)).toEqual([]);
    expect(fake.reads).toContain(startedAt);
  });

  it('are hints only where nobody has asked for more: listings go on every second', () => {
    const { fake } = onNode({ behaviours, untilMs: 30 * SECOND }, ({ start }) =>
      start({ sources: { file: forever(pod()) } }),
    );
    expect(fake.listings).toHaveLength(30);
  });
});

import { describe, it } from 'vitest';
import type { FakeRuntime } from '../support/fake-runtime.js';
import { expectLanes, linesOf } from './lanes.js';
import { forever, MINUTE, onNode, pod, SECOND } from './virtual-node.js';

describe('events of the runtime', () => {
  const behaviours = { main: [{ exitsAfterMs: 100 * SECOND, exitCode: 1 }] };
  const lists = ({ listings }: FakeRuntime) => listings.map((at) => `${at} list`);

  it('are enough: once they are there everything is listed every five minutes, and a death is noticed at once', () => {
    const { fake } = onNode({ behaviours, untilMs: 11 * MINUTE }, ({ start }) =>
      start({ eventedPleg: true, sources: { file: forever(pod()) } }),
    );
    // The first event shows that they are there. Garbage collection lists three times each minute.
    expectLanes(lists(fake), { everyMs: MINUTE }).toBe({
      list: '(ll)(lll)(lll)(lll)(lll)(llll)(lll)(lll)(lll)(lll)(llll)',
    });
    // At once, then 10, 20, 40 and 80 s after the end, with the next tick.
    expectLanes(linesOf(fake.history, 'start main', 'exit main'), { everyMs: SECOND }).toBe({
      'start main': '0 99s 1 99s -----------2 99s - 20s 3 99s - 40s 4 99s - 80s 5 99s -',
      'exit main': ' - 99s 1 99s 1----------- 99s 1 20s - 99s 1 40s - 99s 1 80s - 99s 1',
    });
  });

  it('that break are replaced by listings every second until they are back', () => {
    const { fake } = onNode({ behaviours, untilMs: 2 * MINUTE }, ({ start, fake: { breakEvents }, scheduler }) => {
      start({ eventedPleg: true, sources: { file: forever(pod()) } });
      scheduler.schedule(breakEvents, 70 * SECOND);
    });
    // The stream is opened again after a second, and taken for good after another one.
    expectLanes([...lists(fake), ...linesOf(fake.history, 'start main')], { everyMs: SECOND }).toBe({
      list: '        (ll) 59s (lll)---------lll 27s -',
      'start main': '0    59s -    ------------ 27s 1',
    });
  });

  it('report the effect of a call that was given up long before: of a sandbox that no pod needs any more', () => {
    const { fake } = onNode({ untilMs: 4 * MINUTE }, ({ start, scheduler, fake: { runtime } }) => {
      start({ eventedPleg: true, sources: { file: forever(pod()) } });
      const labels = {
        ...{ 'io.kubernetes.pod.uid': 'gone', 'io.kubernetes.pod.name': 'gone' },
        'io.kubernetes.pod.namespace': 'default',
      };
      const config = { metadata: { uid: 'gone', name: 'gone', namespace: 'default', attempt: 0 }, labels };
      scheduler.schedule(() => runtime.runPodSandbox({ config }).subscribe(), 100 * SECOND);
    });
    // With the next housekeeping.
    expectLanes(linesOf(fake.history, 'sandbox gone', 'stop-sandbox gone'), { everyMs: SECOND }).toBe({
      'sandbox gone': '     100s 0--',
      'stop-sandbox gone': '100s --s',
    });
  });

  it('of what a worker does itself cost no read, but that its container runs does', () => {
    const { fake } = onNode({ latencyMs: 1, untilMs: 900 }, ({ start }) =>
      start({ sources: { file: forever(pod()) } }),
    );
    const reads = fake.reads.map((at) => `${at} read`);
    expectLanes([...fake.history, ...reads], { everyMs: 1 }).toBe({
      'sandbox web': '----0------',
      'start main': ' --------0--',
      read: '         -rr-----r-r',
    });
  });

  it('are only hints unless the option asks for more: listings go on every second', () => {
    const { fake } = onNode({ behaviours, untilMs: 30 * SECOND }, ({ start }) =>
      start({ sources: { file: forever(pod()) } }),
    );
    expectLanes(lists(fake), { everyMs: SECOND }).toBe({ list: 'llllllllllllllllllllllllllllll' });
  });
});

import { expect, it } from 'vitest';
import { admitPod } from '../../src/model/admission/admit-pod.js';
import type { PodSpec } from '../../src/model/pod/pod.js';
import { expectLanes } from './lanes.js';
import { nodeFacts } from '../support/node-facts.js';
import { forever, onNode, pod, SECOND, sets, type Stage } from './virtual-node.js';

/** The node has two CPUs. */
const admit = admitPod(() => ({ ...nodeFacts, allocatable: { cpu: '2' } }));

const named = (name: string, cpu: string, source: string, spec: Partial<PodSpec> = {}) =>
  pod(
    { containers: [{ name, image: 'host', resources: { requests: { cpu } } }], ...spec },
    { uid: name, name, source },
  );
const web = named('web', '1500m', 'api', { terminationGracePeriodSeconds: 8 });
const dns = named('dns', '1', 'file');
const log = named('log', '500m', 'api');
const late = named('late', '600m', 'api');

const of = ({ fake }: Stage): readonly string[] => fake.history.filter((line) => /start|stop |exit/.test(line));

/** The phases and reasons at the end. */
const play = (
  options: Parameters<typeof onNode>[0],
  sources: Parameters<Stage['start']>[0]['sources'],
): { readonly stage: Stage; readonly shown: readonly unknown[] } => {
  let shown: readonly unknown[] = [];
  const stage = onNode(options, ({ start, scheduler }) => {
    const { pods } = start({ sources, admit });
    scheduler.schedule(() => {
      shown = pods().map(({ metadata: { name }, status }) => [name, status?.phase, status?.reason]);
    }, options.untilMs - SECOND);
  });
  return { stage, shown };
};

it('a critical pod starts once the pod has stopped that makes room for it, which has failed for good', () => {
  const { stage, shown } = play(
    { behaviours: { web: [{ stopsAfterMs: 5 * SECOND }] }, untilMs: 60 * SECOND },
    { api: forever(web), file: sets([0, []], [10 * SECOND, [dns]]) },
  );
  expectLanes(of(stage), { everyMs: SECOND }).toBe({
    'start web': '0',
    'stop web': '10s 8',
    'exit web': '15s e',
    'start dns': '15s 0',
  });
  expect(shown).toEqual([
    ['web', 'Failed', 'Preempting'],
    ['dns', 'Running', undefined],
  ]);
});

it('pods that have room only once others have stopped wait for these, and one that never has is rejected', () => {
  const { stage, shown } = play(
    { behaviours: { web: [{ stopsAfterMs: 5 * SECOND }] }, untilMs: 60 * SECOND },
    { api: sets([0, [web]], [12 * SECOND, [web, log, late]]), file: sets([0, []], [10 * SECOND, [dns]]) },
  );
  expectLanes(of(stage), { everyMs: SECOND }).toBe({
    'start web': '0',
    'stop web': ' 10s 8',
    'exit web': ' 15s e',
    'start dns': '15s 0',
    'start log': '15s 0',
  });
  expect(shown).toEqual([
    ['web', 'Failed', 'Preempting'],
    ['dns', 'Running', undefined],
    ['log', 'Running', undefined],
    ['late', 'Failed', 'OutOfcpu'],
  ]);
});

it('several pods that make room are stopped side by side, and the critical pod starts after the last', () => {
  const [one, two] = ['one', 'two'].map((name) => named(name, '900m', 'api'));
  const behaviours = { one: [{ stopsAfterMs: 2 * SECOND }], two: [{ stopsAfterMs: 4 * SECOND }] };
  const large = named('large', '2', 'file');
  const { stage } = play(
    { behaviours, untilMs: 60 * SECOND },
    { api: forever(one!, two!), file: sets([0, []], [10 * SECOND, [large]]) },
  );
  expectLanes(of(stage), { everyMs: SECOND }).toBe({
    'start one': '  0',
    'start two': '  0',
    'stop one': '   10s s',
    'stop two': '   10s s',
    'exit one': '   12s e',
    'exit two': '   14s e',
    'start large': '14s 0',
  });
});

it('a critical pod that is removed while it waits does not start, and the pod that makes room for it stops even so', () => {
  const { stage, shown } = play(
    { behaviours: { web: [{ stopsAfterMs: 5 * SECOND }] }, untilMs: 60 * SECOND },
    { api: forever(web), file: sets([0, []], [10 * SECOND, [dns]], [14 * SECOND, []]) },
  );
  expect(of(stage)).toEqual(['0 start web 0', '10000 stop web 8', '15000 exit web 143']);
  expect(shown).toEqual([['web', 'Failed', 'Preempting']]);
});

it('an agent that starts while pods stop for a critical one finds that there is no room yet, and starts it after them', () => {
  const stage = onNode(
    { behaviours: { web: [{ stopsAfterMs: 5 * SECOND }] }, untilMs: 60 * SECOND },
    ({ start, scheduler }) => {
      const { subscription } = start({
        sources: { api: forever(web), file: sets([0, []], [10 * SECOND, [dns]]) },
        admit,
      });
      scheduler.schedule(() => {
        subscription.unsubscribe();
        start({ sources: { api: forever(web), file: forever(dns) }, admit });
      }, 12 * SECOND);
    },
  );
  expectLanes(
    of(stage).filter((line) => !line.includes('stop web')),
    { everyMs: SECOND },
  ).toBe({
    'start web': '0',
    'exit web': ' 17s e',
    'start dns': '17s 0',
  });
});

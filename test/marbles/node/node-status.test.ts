import { defer, EMPTY, ignoreElements, NEVER, type Observable, of, tap, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { initialNode } from '../../../src/model/node/initial-node.js';
import { conditionOf, type Node } from '../../../src/model/node/node.js';
import { nodeStatus, type NodeStatusOptions } from '../../../src/streams/node/node-status.js';
import { status } from '../../support/fake-node-api.js';
import { nodeSettings, nodeStatusFacts } from '../../support/node-object.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { at, type NodeStage, nodeStage, quiet, runUntil } from './node-stage.js';

const MINUTE = 60_000;
const down = { runtime: { problems: ['down'] } };
/** The last heartbeat was a minute ago. */
const registeredNode = (ready = true): Node => ({
  ...initialNode(nodeSettings, { ...nodeStatusFacts, now: -MINUTE, ...(!ready && down) }).node,
  metadata: {
    name: 'node-1',
    uid: 'u-1',
    resourceVersion: '1',
    labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  },
});

interface Run {
  readonly stage: NodeStage;
  readonly run: (ms: number) => void;
}
const aRun = (
  scheduler: TestScheduler,
  options: Partial<NodeStatusOptions> & { readonly node?: Node | 'none'; readonly draw?: number } = {},
): Run => {
  const { node = registeredNode(), draw = 0, ...others } = options;
  const stage = nodeStage(scheduler);
  if (node !== 'none') stage.fake.node = node;
  const run$ = nodeStatus({
    ...stage,
    heartbeats: stage.client,
    sendPodCidr: () => of(false),
    checkRuntime$: EMPTY,
    shutdown$: NEVER,
    updateFrequencyMs: 10_000,
    reportFrequencyMs: 5 * MINUTE,
    resetConnections: () => stage.fake.history.push(`${scheduler.now()} reset`),
    log: quiet,
    random: () => draw,
    scheduler,
    ...others,
  });
  return { stage, run: (ms) => runUntil(scheduler, run$, ms) };
};
/** When something of that kind was asked. */
const times = ({ fake }: NodeStage, what: string): readonly number[] =>
  fake.history.filter((line) => line.endsWith(` ${what}`)).map((line) => Number(line.split(' ')[0]));

describe('the status of a Node', () => {
  it(
    'is written at once, and then half to one and a half times five minutes after a change, then every five minutes',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { draw: 0 });
      run(15 * MINUTE);
      // The first report is spread to [2.5, 7.5) min; later ones follow it at their own pace. Rounds are 10 s apart.
      // The Node is known from the watch: no request reads it.
      expectLanes(stage.fake.history, { everyMs: MINUTE / 2 }).toBe({ 'PATCH status': 'P----P---------P---------P' });
    }),
  );

  it(
    'is written at once when the machine begins to shut down',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { shutdown$: timer(3_000, scheduler) });
      scheduler.schedule(() => (stage.facts = { runtime: { problems: ['node is shutting down'] } }), 2_999);
      run(6_000);
      expect(times(stage, 'PATCH status')).toEqual([0, 3_000]);
      expect(conditionOf(stage.fake.node!, 'Ready')).toMatchObject({
        status: 'False',
        reason: 'KubeletNotReady',
        message: 'node is shutting down',
      });
    }),
  );

  it(
    'is spread up to 7.5 min',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { draw: 0.99 });
      run(15 * MINUTE);
      // 447 s are noticed by the round after it: 10.396 s apart, 43 of them.
      expect(times(stage, 'PATCH status').slice(0, 2)).toEqual([0, 43 * 10_396]);
    }),
  );

  it.each([
    [0.0, '10.0s l  9.8s l  9.8s l'],
    [0.5, '10.2s l 10.0s l 10.0s l'],
    [1.0, '10.4s l 10.2s l 10.2s l'],
  ])('is looked at every 10 s and up to 4 %% more: drawing %d', (draw, expected) =>
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { draw });
      const looks: string[] = [];
      at(
        scheduler,
        1,
        () =>
          (stage.facts = {
            get images() {
              looks.push(`${scheduler.now()} look`);
              return [];
            },
          }),
      );
      run(32_000);
      expectLanes(looks, { everyMs: 200 }).toBe({ look: expected });
    })(),
  );

  it(
    'counts the 10 s from the end of a round',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { reportFrequencyMs: 1 });
      const slow$: Observable<never> = timer(3_000, scheduler).pipe(ignoreElements());
      at(scheduler, 1, () => (stage.fake.answer = () => slow$));
      run(25_000);
      expect(times(stage, 'PATCH status')).toEqual([0, 10_000, 23_000]);
    }),
  );

  it(
    'is written in the round after a change',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler);
      at(scheduler, 15_000, () => (stage.facts = down));
      at(scheduler, 35_000, () => (stage.facts = {}));
      run(60_000);
      expect(times(stage, 'PATCH status')).toEqual([0, 20_000, 40_000]);
      expect(stage.events).toEqual(['20000 NodeNotReady', '40000 NodeReady']);
    }),
  );

  it(
    'records by an event whether pods may be placed on it when that changes, also at the start',
    marbles(({ scheduler }) => {
      const node: Node = { ...registeredNode(), spec: { unschedulable: true } };
      const { stage, run } = aRun(scheduler, { node });
      at(scheduler, 25_000, () => stage.fake.write({ ...stage.fake.node!, spec: {} }));
      run(60_000);
      expect(stage.events).toEqual(['0 NodeNotSchedulable', '30000 NodeSchedulable']);
      // It is nothing that the agent has to write.
      expect(times(stage, 'PATCH status')).toEqual([0]);
    }),
  );

  it(
    'is tried five times at once, from the second on of what the server has, and connections are given up from the second failure on',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler);
      stage.fake.answer = (what) => (what === 'PATCH status' ? status(500, 'InternalError') : undefined);
      at(scheduler, 5_000, () => (stage.fake.answer = () => undefined));
      run(15_000);
      expectLanes(stage.fake.history, { everyMs: 1_000 }).toBe('(wrwxrwxrwxrwx)---------w', {
        w: 'PATCH status',
        r: 'GET node',
        x: 'reset',
      });
    }),
  );

  it(
    'records an event once after several attempts',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler);
      let failures = 2;
      at(scheduler, 5_000, () => {
        stage.facts = down;
        stage.fake.answer = (what) => (what === 'PATCH status' && failures-- > 0 ? status(409, 'Conflict') : undefined);
      });
      run(15_000);
      expect(stage.events).toEqual(['10000 NodeNotReady']);
    }),
  );

  it(
    'is written where the runtime has taken other addresses for pods',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { sendPodCidr: () => of(scheduler.now() === 20_000) });
      run(35_000);
      expect(times(stage, 'PATCH status')).toEqual([0, 20_000]);
    }),
  );

  it(
    'goes on when the machine could not be read',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler);
      stage.facts = undefined;
      at(scheduler, 5_000, () => (stage.facts = {}));
      run(15_000);
      expect(times(stage, 'PATCH status')).toEqual([10_000]);
    }),
  );

  it(
    'sends what an older server does not keep only once',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler);
      const { write } = stage.fake;
      Object.assign(stage.fake, {
        write: (node: Node) => write({ ...node, status: { ...node.status, features: undefined } }),
      });
      stage.facts = {
        runtime: { problems: [], features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false } },
      };
      run(MINUTE);
      expect(times(stage, 'PATCH status')).toEqual([0]);
      expect(stage.fake.patches[0]).toMatchObject({ status: { features: { supplementalGroupsPolicy: true } } });
    }),
  );

  it(
    'ends the measurement of the start once the server has the node as ready',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { node: registeredNode(false) });
      stage.facts = down;
      at(scheduler, 15_000, () => (stage.facts = {}));
      run(20_500);
      expect(stage.steps).toEqual(['15000 ready']);
    }),
  );
});

describe('a node that starts', () => {
  it(
    'is looked at every 100 ms, and written as soon as it is ready',
    marbles(({ scheduler }) => {
      const checks: string[] = [];
      const checkRuntime$ = defer(() => {
        checks.push(`${scheduler.now()} check`);
        return EMPTY;
      });
      const { stage, run } = aRun(scheduler, { node: registeredNode(false), checkRuntime$ });
      stage.facts = down;
      at(scheduler, 250, () => (stage.facts = {}));
      run(5_000);
      // The runtime is checked once before the first round, and by each fast round. It is ready at 250 ms.
      expectLanes([...checks, ...stage.fake.history, ...stage.events], { everyMs: 100 }).toBe({
        check: '         (cc)ccc',
        'PATCH status': 'P   --P',
        NodeReady: '     -   --N',
      });
    }),
  );

  it(
    'is written by a round where that fails',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { node: registeredNode(false) });
      stage.facts = down;
      let failures = 1;
      at(scheduler, 250, () => {
        stage.facts = {};
        stage.fake.answer = (what) => (what === 'PATCH status' && failures-- > 0 ? status(409, 'Conflict') : undefined);
      });
      run(5_000);
      expect(times(stage, 'PATCH status')).toEqual([0, 300, 300]);
      expect(stage.events).toEqual(['300 NodeReady']);
    }),
  );

  it(
    'is no longer checked every 100 ms after 120 s',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { node: registeredNode(false) });
      stage.facts = down;
      at(scheduler, 120_050, () => (stage.facts = {}));
      run(131_000);
      // Only a slow round writes it.
      expectLanes(stage.fake.history, { everyMs: 100 }).toBe({ 'PATCH status': 'P 129900ms P' });
    }),
  );

  it(
    'becomes ready at 119.9 s at once',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { node: registeredNode(false) });
      stage.facts = down;
      at(scheduler, 119_850, () => (stage.facts = {}));
      run(125_000);
      expectLanes(stage.fake.history, { everyMs: 100 }).toBe({ 'PATCH status': 'P 119800ms P' });
    }),
  );
});

describe('a Node that has to be registered', () => {
  /** Takes 100 ms, and says when it began. */
  const registering = (scheduler: TestScheduler, begun: number[], stage: () => NodeStage): Observable<never> =>
    defer(() => {
      begun.push(scheduler.now());
      return timer(100, scheduler);
    }).pipe(
      tap(() => (stage().fake.node = registeredNode())),
      ignoreElements(),
    );

  it(
    'is before its status is written',
    marbles(({ scheduler }) => {
      const registered: number[] = [];
      const run: Run = aRun(scheduler, {
        node: 'none',
        register$: registering(scheduler, registered, () => run.stage),
      });
      run.run(15_000);
      expect(registered).toEqual([0]);
      expect(times(run.stage, 'PATCH status')).toEqual([100]);
    }),
  );

  it(
    'is registered again at once after its deletion',
    marbles(({ scheduler }) => {
      const registered: number[] = [];
      const run: Run = aRun(scheduler, { register$: registering(scheduler, registered, () => run.stage) });
      at(scheduler, 12_000, () => {
        run.stage.fake.remove();
        run.stage.view.deletion$.next();
      });
      run.run(15_000);
      const registrations = registered.map((ms) => `${ms} register`);
      expectLanes([...registrations, ...run.stage.fake.history], { everyMs: 100 }).toBe({
        register: '      r- 11800ms r',
        'PATCH status': '-P 11800ms -',
      });
      expect(run.stage.fake.node).toBeDefined();
    }),
  );

  it(
    'is registered again where the watch has not seen that it was deleted',
    marbles(({ scheduler }) => {
      const registered: number[] = [];
      const stale = registeredNode();
      const run: Run = aRun(scheduler, {
        reportFrequencyMs: 1,
        register$: registering(scheduler, registered, () => run.stage),
        view: { node: () => stale, note: () => undefined, deleted$: EMPTY },
      });
      at(scheduler, 5_000, () => run.stage.fake.remove());
      run.run(15_000);
      expect(registered).toEqual([0, 10_100]);
      expect(times(run.stage, 'PATCH status').at(-1)).toBe(10_200);
    }),
  );

  it(
    'is left to the client that creates it',
    marbles(({ scheduler }) => {
      const { stage, run } = aRun(scheduler, { node: 'none' });
      at(scheduler, 5_000, () => (stage.fake.node = registeredNode()));
      run(15_000);
      expectLanes(stage.fake.history, { everyMs: 1_000 }).toBe('(rxrxrxrx)---------w', {
        w: 'PATCH status',
        r: 'GET node',
        x: 'reset',
      });
    }),
  );
});

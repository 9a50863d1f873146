import { describe, expect, it } from 'vitest';
import { ATTACH_DETACH_ANNOTATION, initialNode } from '../../../src/model/node/initial-node.js';
import type { Node } from '../../../src/model/node/node.js';
import { registration } from '../../../src/streams/node/registration.js';
import { status } from '../../support/fake-node-api.js';
import { nodeSettings, nodeStatusFacts } from '../../support/node-object.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { at, type NodeStage, nodeStage, quiet, runUntil } from './node-stage.js';
import type { TestScheduler } from 'rxjs/testing';

const register = (stage: NodeStage, scheduler: TestScheduler) =>
  registration({ ...stage, note: stage.view.note, log: quiet, scheduler });
const existing: Node = {
  ...initialNode(nodeSettings, nodeStatusFacts).node,
  metadata: { name: 'node-1', uid: 'u-1', resourceVersion: '1', labels: { a: '1' } },
};

describe('a Node is registered', () => {
  it(
    'after 100 ms, with all facts and events',
    marbles(({ scheduler }) => {
      const stage = nodeStage(scheduler, { taints: [{ key: 'a', effect: 'NoSchedule' }] });
      const { completedAt } = runUntil(scheduler, register(stage, scheduler), 60_000);
      expect(completedAt).toBe(100);
      expect(stage.fake.history).toEqual(['100 POST nodes']);
      expect(stage.fake.node).toMatchObject({
        spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
        status: { capacity: { cpu: '4' } },
      });
      expect(stage.noted).toEqual([stage.fake.node]);
      expect(stage.steps).toEqual(['0 attempted', '100 registered']);
      expect(stage.events).toEqual(
        ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'].map((reason) => `100 ${reason}`),
      );
    }),
  );

  it(
    'in the end: after 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 7 and 7 s',
    marbles(({ scheduler }) => {
      const stage = nodeStage(scheduler);
      stage.fake.answer = () => status(500, 'InternalError');
      at(scheduler, 20_000, () => (stage.fake.answer = () => undefined));
      const { completedAt } = runUntil(scheduler, register(stage, scheduler), 60_000);
      expectLanes([...stage.fake.history, `${completedAt} end`], { everyMs: 100 }).toBe({
        'POST nodes': '-P-P---P-------P 1500ms P 3100ms P 6300ms P 6900ms P 6900ms P',
        end: '         ---------------- 1500ms - 3100ms - 6300ms - 6900ms - 6900ms e',
      });
      // No event was recorded of the Nodes that were not created.
      expect(stage.events.every((event) => event.startsWith('26700 '))).toBe(true);
    }),
  );

  it(
    'once the machine can be read',
    marbles(({ scheduler }) => {
      const stage = nodeStage(scheduler);
      stage.facts = undefined;
      at(scheduler, 200, () => (stage.facts = {}));
      expect(runUntil(scheduler, register(stage, scheduler), 60_000).completedAt).toBe(300);
      expect(stage.fake.history).toEqual(['300 POST nodes']);
    }),
  );

  it.each<[string, () => void, readonly string[]]>([
    ['AlreadyExists', () => undefined, ['100 POST nodes', '100 GET node', '100 PATCH status']],
    ['Forbidden', () => status(403, 'Forbidden'), ['100 POST nodes', '100 GET node', '100 PATCH status']],
  ])('as the one that was there, where making one is answered by %s', (_, answer, history) =>
    marbles(({ scheduler }) => {
      const stage = nodeStage(scheduler);
      stage.fake.node = existing;
      stage.fake.answer = (what) => (what === 'POST nodes' ? (answer() as undefined) : undefined);
      expect(runUntil(scheduler, register(stage, scheduler), 60_000).completedAt).toBe(100);
      expect(stage.fake.history).toEqual(history);
      expect(stage.fake.node.metadata.labels).toMatchObject({ a: '1', 'kubernetes.io/os': 'linux' });
      expect(stage.fake.node.metadata.annotations).toEqual({ [ATTACH_DETACH_ANNOTATION]: 'true' });
      expect(stage.noted).toEqual([stage.fake.node]);
      // It is not new.
      expect([stage.steps, stage.events]).toEqual([['0 attempted', '100 found'], []]);
    })(),
  );

  it(
    'without a write where the one that was there is right',
    marbles(({ scheduler }) => {
      const stage = nodeStage(scheduler);
      const { labels, annotations } = initialNode(nodeSettings, nodeStatusFacts).node.metadata;
      stage.fake.node = { ...existing, metadata: { ...existing.metadata, labels, annotations } };
      runUntil(scheduler, register(stage, scheduler), 60_000);
      expect(stage.fake.history).toEqual(['100 POST nodes', '100 GET node']);
    }),
  );

  it(
    'not yet where it may not be made and is not there, or cannot be read or brought up to date',
    marbles(({ scheduler }) => {
      const stage = nodeStage(scheduler);
      stage.fake.answer = (what) => (what === 'POST nodes' ? status(403, 'Forbidden') : undefined);
      at(scheduler, 200, () => {
        stage.fake.node = existing;
        stage.fake.answer = (what) => (what === 'GET node' ? status(500, 'InternalError') : undefined);
      });
      at(scheduler, 500, () => {
        stage.fake.answer = (what) => (what === 'PATCH status' ? status(409, 'Conflict') : undefined);
      });
      at(scheduler, 1_000, () => (stage.fake.answer = () => undefined));
      expect(runUntil(scheduler, register(stage, scheduler), 60_000).completedAt).toBe(1_500);
      expect(stage.fake.history.map((line) => line.replace(/ .* /, ' '))).toEqual([
        ...['100 nodes', '100 node', '300 nodes', '300 node'],
        ...['700 nodes', '700 node', '700 status', '1500 nodes', '1500 node', '1500 status'],
      ]);
    }),
  );
});

import { describe, expect, it } from 'vitest';
import type { Node } from '../../../src/model/node/node.js';
import { nodeView } from '../../../src/streams/node/node-view.js';
import { fakeNodeApi, status } from '../../support/fake-node-api.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { at, quiet, runUntil } from './node-stage.js';
import type { TestScheduler } from 'rxjs/testing';

const aView = (scheduler: TestScheduler) => {
  const fake = fakeNodeApi(scheduler);
  const asked: unknown[] = [];
  const api = {
    ...fake.api,
    request: (request: Parameters<typeof fake.api.request>[0]) => {
      asked.push(request.query?.fieldSelector);
      return fake.api.request(request);
    },
  };
  const view = nodeView({ api, scheduler, random: () => 0, log: quiet }, 'node-1');
  const synced: number[] = [];
  const deleted: number[] = [];
  view.synced$.subscribe({ complete: () => synced.push(scheduler.now()) });
  view.deleted$.subscribe(() => deleted.push(scheduler.now()));
  return { fake, view, asked, synced, deleted };
};
const aNode = (rack: string): Node => ({ metadata: { name: 'node-1', uid: 'u-1', labels: { rack } } });
const rackOf = (node: Node | undefined) => node?.metadata.labels?.rack;

describe('the view of the own Node', () => {
  it(
    'asks for no other, knows it once it was listed, and follows it',
    marbles(({ scheduler }) => {
      const { fake, view, asked, synced } = aView(scheduler);
      fake.write(aNode('1'));
      fake.answer = () => status(500, 'InternalError');
      at(scheduler, 100, () => (fake.answer = () => undefined));
      const seen: unknown[] = [];
      at(scheduler, 50, () => seen.push(rackOf(view.node())));
      at(scheduler, 20_000, () => {
        seen.push(rackOf(view.node()));
        fake.write(aNode('2'));
        seen.push(rackOf(view.node()));
      });
      runUntil(scheduler, view.run$, 21_000);
      expect(seen).toEqual([undefined, '1', '2']);
      expect(asked).toContain('metadata.name=node-1');
      expectLanes([...fake.history, ...synced.map((ms) => `${ms} synced`)], { everyMs: 100 }).toBe({
        'GET nodes': 'G-------G',
        synced: '     --------s',
      });
      // A later subscriber receives it at once.
      let isSynced = false;
      view.synced$.subscribe(() => (isSynced = true));
      expect(isSynced).toBe(true);
    }),
  );

  it(
    'the view emits the Node before it emits that it is synced',
    marbles(({ scheduler }) => {
      const { fake, view } = aView(scheduler);
      const order: string[] = [];
      view.synced$.subscribe(() => order.push('synced'));
      view.node$.subscribe((node) => order.push(`rack ${rackOf(node)}`));
      fake.write(aNode('1'));
      runUntil(scheduler, view.run$, 1_000);
      expect(order).toEqual(['rack undefined', 'rack 1', 'synced']);
    }),
  );

  it(
    'is synced without a Node, too',
    marbles(({ scheduler }) => {
      const { view, synced, deleted } = aView(scheduler);
      runUntil(scheduler, view.run$, 1_000);
      expect([view.node(), synced, deleted]).toEqual([undefined, [0], []]);
    }),
  );

  it(
    'emits its deletion',
    marbles(({ scheduler }) => {
      const { fake, view, deleted } = aView(scheduler);
      fake.write(aNode('1'));
      at(scheduler, 500, fake.remove);
      runUntil(scheduler, view.run$, 1_000);
      expect([view.node(), deleted]).toEqual([undefined, [500]]);
    }),
  );

  it(
    'believes the answer to a write until the watch has something newer',
    marbles(({ scheduler }) => {
      const { fake, view, deleted } = aView(scheduler);
      fake.write(aNode('1'));
      const seen: unknown[] = [];
      at(scheduler, 500, () => {
        view.note({ ...aNode('answer'), metadata: { ...aNode('answer').metadata, resourceVersion: '3' } });
        seen.push(rackOf(view.node()));
        // Versions 2, 3 and 4.
        for (const rack of ['2', '3', '4']) {
          fake.write(aNode(rack));
          seen.push(rackOf(view.node()));
        }
      });
      runUntil(scheduler, view.run$, 1_000);
      expect(seen).toEqual(['answer', 'answer', '3', '4']);
      expect(deleted).toEqual([]);
    }),
  );

  it(
    'is followed from its present version on, each version once',
    marbles(({ scheduler }) => {
      const { fake, view } = aView(scheduler);
      const seen: unknown[] = [];
      const follow = () => view.node$.subscribe((node) => seen.push(`${scheduler.now()} ${rackOf(node)}`));
      follow();
      at(scheduler, 100, () => fake.write(aNode('1')));
      at(scheduler, 200, () => view.note(view.node()!));
      at(scheduler, 300, follow);
      at(scheduler, 400, () => fake.write(aNode('2')));
      at(scheduler, 500, fake.remove);
      runUntil(scheduler, view.run$, 1_000);
      expect(seen).toEqual(['0 undefined', '100 1', '300 1', '400 2', '400 2', '500 undefined', '500 undefined']);
    }),
  );
});

import { ignoreElements, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../src/model/node/lease.js';
import type { Logger } from '../../../src/streams/ports/logger.js';
import { apiClient } from '../../../src/streams/cluster/api-client.js';
import { nodeLease, type NodeLeaseOptions } from '../../../src/streams/node/node-lease.js';
import { type FakeNodeApi, fakeNodeApi, status } from '../../support/fake-node-api.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';
import { at, quiet, runUntil } from './node-stage.js';

interface Run {
  readonly fake: FakeNodeApi;
  readonly run: (ms: number) => void;
}
const aRun = (scheduler: TestScheduler, options: Partial<NodeLeaseOptions> = {}): Run => {
  const fake = fakeNodeApi(scheduler);
  fake.node = { metadata: { name: 'node-1', uid: 'u-1' } };
  const lease$ = nodeLease({
    heartbeats: apiClient(fake.api, { qps: -1, burst: 0, scheduler }),
    nodeName: 'node-1',
    durationSeconds: 40,
    nodeUid: () => fake.node?.metadata.uid,
    resetConnections: () => fake.history.push(`${scheduler.now()} reset`),
    log: quiet,
    random: () => 0,
    scheduler,
    wallClock: () => scheduler.now(),
    ...options,
  });
  return { fake, run: (ms) => runUntil(scheduler, lease$, ms) };
};
const made: Lease = {
  metadata: {
    name: 'node-1',
    namespace: 'kube-node-lease',
    resourceVersion: '1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u-1' }],
  },
  spec: { holderIdentity: 'node-1' },
};

/** The requests of a lease: read it, read its Node, create it, update it; `x` is a reset of the connections. */
const LEGEND = { r: 'GET lease', n: 'GET node', m: 'POST leases', w: 'PUT lease', x: 'reset' };
const SECONDS = { everyMs: 1_000 };

describe('the lease of a node', () => {
  it(
    'a lease whose Node is not registered yet is logged at level info, and not as an error',
    marbles(({ scheduler }) => {
      const levels: string[] = [];
      const log: Logger = {
        ...quiet,
        info: (_, text) => levels.push(`info ${text}`),
        error: (_, text) => levels.push(`error ${text}`),
      };
      const { fake, run } = aRun(scheduler, { log });
      fake.node = undefined;
      run(1_000);
      expect(levels[0]).toBe('info the lease of the node is not created: its owner is not known yet');
      expect(levels.filter((line) => line.startsWith('error'))).toEqual([]);
    }),
  );

  it(
    'is made for its Node and renewed every 10 s, by one request each time',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      run(25_000);
      expectLanes(fake.history, SECONDS).toBe('(rnm)---------w---------w', LEGEND);
      expect(fake.lease).toMatchObject({
        metadata: { ownerReferences: [{ kind: 'Node', uid: 'u-1' }] },
        spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '1970-01-01T00:00:20.000000Z' },
      });
    }),
  );

  it(
    'is renewed at once where it was there, with an owner where it had none',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = { ...made, metadata: { ...made.metadata, ownerReferences: [] } };
      run(5_000);
      expectLanes(fake.history, SECONDS).toBe('(rnw)', LEGEND);
      expect(fake.lease.metadata.ownerReferences).toHaveLength(1);
    }),
  );

  it.each([
    [40, 0.0, '(rw)  9.8s w  9.8s w  9.8s w'],
    [40, 0.5, '(rw)   10s w   10s w   10s w'],
    [40, 1.0, '(rw) 10.2s w 10.2s w 10.2s w'],
    [20, 0.0, '(rw)  4.8s w  4.8s w  4.8s w'],
  ])('of %i s is renewed four times in it and up to 4 %% later: drawing %d', (durationSeconds, draw, expected) =>
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler, { durationSeconds, random: () => draw });
      fake.lease = made;
      run(durationSeconds * 800);
      expectLanes(fake.history, { everyMs: 200 }).toBe(expected, LEGEND);
    })(),
  );

  it(
    'is renewed 10 s after the end of a renewal',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => {
        fake.answer = () => timer(2_000, scheduler).pipe(ignoreElements());
      });
      run(25_000);
      expectLanes(fake.history, SECONDS).toBe('(rw)---------w-----------w', LEGEND);
    }),
  );

  it(
    'is requested after 200 ms, doubling to 7 s, while it cannot be read',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      fake.answer = () => status(500, 'InternalError');
      at(scheduler, 25_000, () => (fake.answer = () => undefined));
      run(28_000);
      expectLanes(fake.history, { everyMs: 200 }).toBe('rr-r---r-------r 3s r 6.2s r 6.8s r 6.8s (rw)', LEGEND);
    }),
  );

  it(
    'is not made without its Node, and not before its next turn',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      const { node } = fake;
      fake.node = undefined;
      at(scheduler, 1_000, () => (fake.node = node));
      run(15_000);
      expectLanes(fake.history, SECONDS).toBe('(rn)---------(rnm)', LEGEND);
    }),
  );

  it(
    'is tried five times at once, then read again and tried five times more; connections are closed from each second failure on',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => {
        fake.answer = (what) => (what === 'PUT lease' ? status(500, 'InternalError') : undefined);
      });
      run(15_000);
      expectLanes(fake.history, SECONDS).toBe('(rw)---------(wwxwxwxwxrwwxwxwxwx)', LEGEND);
    }),
  );

  it(
    'is read again and renewed after a write of another client, without closing connections',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => {
        fake.lease = {
          ...made,
          metadata: { ...made.metadata, resourceVersion: '99' },
          spec: { holderIdentity: 'other' },
        };
      });
      run(25_000);
      expectLanes(fake.history, SECONDS).toBe('(rw)---------(wrw)---------w', LEGEND);
      expect(fake.lease.spec?.holderIdentity).toBe('other');
    }),
  );

  it(
    'passes to a Node that was created again',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => (fake.node = { metadata: { name: 'node-1', uid: 'u-2' } }));
      run(25_000);
      expectLanes(fake.history, SECONDS).toBe('(rw)---------(nw)---------w', LEGEND);
      expect(fake.lease.metadata.ownerReferences).toMatchObject([{ uid: 'u-2' }]);
    }),
  );

  it(
    'is made again where it was deleted',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => (fake.lease = undefined));
      run(15_000);
      expectLanes(fake.history, SECONDS).toBe('(rw)---------(wwxwxwxwxrnm)', LEGEND);
    }),
  );
});

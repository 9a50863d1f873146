import { ignoreElements, timer } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../src/model/node/lease.js';
import { apiClient } from '../../../src/streams/api/api-client.js';
import { nodeLease, type NodeLeaseOptions } from '../../../src/streams/node/node-lease.js';
import { type FakeNodeApi, fakeNodeApi, status } from '../../support/fake-node-api.js';
import { marbles } from '../marbles.js';
import { at, quiet, runUntil } from './node-stage.js';

interface Run {
  readonly fake: FakeNodeApi;
  readonly resets: number[];
  readonly run: (ms: number) => void;
}
const aRun = (scheduler: TestScheduler, options: Partial<NodeLeaseOptions> = {}): Run => {
  const fake = fakeNodeApi(scheduler);
  fake.node = { metadata: { name: 'node-1', uid: 'u-1' } };
  const resets: number[] = [];
  const lease$ = nodeLease({
    heartbeats: apiClient(fake.api, { qps: -1, burst: 0, scheduler }),
    nodeName: 'node-1',
    durationSeconds: 40,
    nodeUid: () => fake.node?.metadata.uid,
    resetConnections: () => resets.push(scheduler.now()),
    log: quiet,
    random: () => 0,
    scheduler,
    wallClock: () => scheduler.now(),
    ...options,
  });
  return { fake, resets, run: (ms) => runUntil(scheduler, lease$, ms) };
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

describe('the lease of a node', () => {
  it(
    'is made for its Node and renewed every 10 s, by one request each time',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      run(25_000);
      expect(fake.history).toEqual([
        '0 GET lease',
        '0 GET node',
        '0 POST leases',
        '10000 PUT lease',
        '20000 PUT lease',
      ]);
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
      expect(fake.history).toEqual(['0 GET lease', '0 GET node', '0 PUT lease']);
      expect(fake.lease.metadata.ownerReferences).toHaveLength(1);
    }),
  );

  it.each([
    [40, 0, [0, 10_000, 20_000, 30_000]],
    [40, 0.5, [0, 10_200, 20_400, 30_600]],
    [40, 1, [0, 10_400, 20_800, 31_200]],
    [20, 0, [0, 5_000, 10_000, 15_000]],
  ])('of %i s is renewed four times in it and up to 4 %% later: drawing %d', (durationSeconds, draw, expected) =>
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler, { durationSeconds, random: () => draw });
      fake.lease = made;
      run((expected.at(-1) ?? 0) + 1);
      expect(fake.history.filter((line) => line.includes('PUT'))).toEqual(expected.map((ms) => `${ms} PUT lease`));
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
      expect(fake.history.slice(2)).toEqual(['10000 PUT lease', '22000 PUT lease']);
    }),
  );

  it(
    'is asked for after 200 ms, doubling to 7 s, while it cannot be had',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      fake.answer = () => status(500, 'InternalError');
      at(scheduler, 25_000, () => (fake.answer = () => undefined));
      run(28_000);
      expect(fake.history.slice(0, -1).map((line) => Number(line.split(' ')[0]))).toEqual([
        0, 200, 600, 1_400, 3_000, 6_200, 12_600, 19_600, 26_600,
      ]);
      expect(fake.history.at(-1)).toBe('26600 PUT lease');
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
      expect(fake.history).toEqual([
        ...['0 GET lease', '0 GET node'],
        ...['10000 GET lease', '10000 GET node', '10000 POST leases'],
      ]);
    }),
  );

  it(
    'is tried five times at once, then looked at anew and tried five times more; connections are given up from each second failure on',
    marbles(({ scheduler }) => {
      const { fake, resets, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => {
        fake.answer = (what) => (what === 'PUT lease' ? status(500, 'InternalError') : undefined);
      });
      run(15_000);
      const tries = Array.from({ length: 5 }, () => '10000 PUT lease');
      expect(fake.history).toEqual(['0 GET lease', '0 PUT lease', ...tries, '10000 GET lease', ...tries]);
      expect(resets).toEqual(Array.from({ length: 8 }, () => 10_000));
    }),
  );

  it(
    'is read again and renewed where somebody else has written it; no connection is to blame',
    marbles(({ scheduler }) => {
      const { fake, resets, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => {
        fake.lease = {
          ...made,
          metadata: { ...made.metadata, resourceVersion: '99' },
          spec: { holderIdentity: 'other' },
        };
      });
      run(25_000);
      expect(fake.history.slice(2)).toEqual([
        '10000 PUT lease',
        '10000 GET lease',
        '10000 PUT lease',
        '20000 PUT lease',
      ]);
      expect(resets).toEqual([]);
      expect(fake.lease.spec?.holderIdentity).toBe('other');
    }),
  );

  it(
    'goes over to a Node that was made anew',
    marbles(({ scheduler }) => {
      const { fake, run } = aRun(scheduler);
      fake.lease = made;
      at(scheduler, 5_000, () => (fake.node = { metadata: { name: 'node-1', uid: 'u-2' } }));
      run(25_000);
      expect(fake.history.slice(2)).toEqual(['10000 GET node', '10000 PUT lease', '20000 PUT lease']);
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
      expect(fake.history.slice(2)).toEqual([
        ...Array.from({ length: 5 }, () => '10000 PUT lease'),
        ...['10000 GET lease', '10000 GET node', '10000 POST leases'],
      ]);
    }),
  );
});

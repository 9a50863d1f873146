import { describe, expect, it } from 'vitest';
import { ADMIN, apiStage, type ApiStage, podNamed, PODS_PATH } from './api-stage.js';

const create = ({ server }: ApiStage, name: string, nodeName?: string): void =>
  void server.do({ method: 'POST', path: PODS_PATH, body: podNamed(name, { nodeName }) });

describe('a watch', () => {
  it('says what has happened since its version, and then what happens, in order', () => {
    const stage = apiStage();
    create(stage, 'a');
    const since = String(stage.server.revision());
    create(stage, 'b');
    const heard = stage.watch({ path: PODS_PATH, query: { resourceVersion: since } });
    stage.pass(100);
    create(stage, 'c');
    stage.server.do({ method: 'DELETE', path: `${PODS_PATH}/b` });
    stage.server.do({ method: 'DELETE', path: `${PODS_PATH}/b`, body: { gracePeriodSeconds: 0 } });
    stage.pass(100);
    expect(heard.said).toEqual(['opened', 'ADDED b', 'ADDED c', 'MODIFIED b', 'DELETED b']);
    const versions = heard.messages.flatMap((message) =>
      message.kind === 'event'
        ? [Number((message.object as { metadata: { resourceVersion: string } }).metadata.resourceVersion)]
        : [],
    );
    expect(versions).toEqual([...versions].sort((one, other) => one - other));
    expect(new Set(versions).size).toBe(versions.length);
  });

  it('without a version begins with everything that is there', () => {
    const stage = apiStage();
    create(stage, 'b');
    create(stage, 'a');
    const heard = stage.watch({ path: PODS_PATH });
    stage.pass(100);
    expect(heard.said).toEqual(['opened', 'ADDED a', 'ADDED b']);
  });

  it('shows what comes to fit as added, and what no longer fits as deleted', () => {
    const stage = apiStage();
    const label = (app: string) =>
      stage.server.do({
        ...{ method: 'PATCH', path: `${PODS_PATH}/a`, contentType: 'application/merge-patch+json' },
        body: { metadata: { labels: { app } } },
      });
    create(stage, 'a');
    const query = { labelSelector: 'app=web', resourceVersion: String(stage.server.revision()) };
    const heard = stage.watch({ path: PODS_PATH, query });
    stage.pass(100);
    for (const app of ['job', 'web', 'web', 'job']) label(app);
    stage.pass(100);
    expect(heard.said).toEqual(['opened', 'ADDED a', 'DELETED a']);
  });

  it('is ended by the server when its time is over, after a bookmark every minute', () => {
    const stage = apiStage();
    create(stage, 'a');
    const resourceVersion = String(stage.server.revision());
    const heard = stage.watch({
      path: PODS_PATH,
      query: { resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds: '150' },
    });
    stage.pass(149_000);
    expect(heard.said).toEqual(['opened', `BOOKMARK ${resourceVersion}`, `BOOKMARK ${resourceVersion}`]);
    stage.pass(2_000);
    expect(heard.said.at(-1)).toBe('closed');
    expect(stage.server.openWatches()).toBe(0);
  });

  it('that begins in a past that is forgotten is refused in one of two ways', () => {
    const stage = apiStage();
    const since = String(stage.server.revision());
    create(stage, 'a');
    stage.server.compact();
    const said = Array.from({ length: 20 }, () => stage.watch({ path: PODS_PATH, query: { resourceVersion: since } }));
    stage.pass(1000);
    const ways = new Set(said.map((heard) => heard.said.join(', ')));
    expect(ways).toEqual(new Set(['error 410 Expired', 'opened, ERROR 410, closed']));
  });

  it('forgets the past by itself when much has happened', () => {
    const stage = apiStage({ keptChanges: 5 });
    const since = String(stage.server.revision());
    for (let index = 0; index < 11; index++) create(stage, `pod-${index}`);
    const late = stage.watch({ path: PODS_PATH, query: { resourceVersion: since } });
    const recent = stage.watch({ path: PODS_PATH, query: { resourceVersion: String(stage.server.revision() - 3) } });
    stage.pass(1000);
    expect(late.said.join()).toContain('410');
    expect(recent.said).toHaveLength(4);
  });

  it('that breaks says so, and one that falls silent says nothing', () => {
    const stage = apiStage();
    const query = { resourceVersion: String(stage.server.revision()) };
    const reset = stage.watch({ path: PODS_PATH, query });
    stage.pass(100);
    const other = apiStage();
    const quiet = other.watch({ path: PODS_PATH, query: { resourceVersion: String(other.server.revision()) } });
    other.pass(100);
    other.server.breakWatches('silent');
    stage.server.breakWatches('reset');
    create(stage, 'a');
    create(other, 'a');
    stage.pass(1000);
    other.pass(4_000_000);
    expect(reset.said).toEqual(['opened', 'error undefined ']);
    expect(quiet.said).toEqual(['opened']);
  });
});

describe('a server that is restarted', () => {
  it('keeps its data, breaks what is under way, refuses what comes meanwhile and forgets the past', () => {
    const stage = apiStage();
    create(stage, 'a');
    const since = String(stage.server.revision() - 1);
    const heard = stage.watch({ path: PODS_PATH, query: { resourceVersion: String(stage.server.revision()) } });
    stage.pass(100);
    stage.server.restart(120_000);
    expect(stage.refusal({ method: 'GET', path: PODS_PATH })).toBe('none');
    expect(() => create(stage, 'b')).toThrow('ECONNREFUSED');
    stage.pass(120_000);
    expect(heard.said).toEqual(['opened', 'error undefined ']);
    expect(stage.object({ method: 'GET', path: `${PODS_PATH}/a` }).metadata.name).toBe('a');
    const late = stage.watch({ path: PODS_PATH, query: { resourceVersion: since } });
    stage.pass(100);
    expect(late.said.join()).toContain('410');
  });
});

describe('a request', () => {
  it('that is given up before it arrives is never carried out, and one that has arrived is', () => {
    const given = [0, 99].map((afterMs) => {
      const stage = apiStage({ latencyMs: { min: 100, max: 100 } });
      const post = { method: 'POST', path: PODS_PATH, body: podNamed('a') } as const;
      const subscription = stage.server.connect(ADMIN).request(post).subscribe();
      stage.pass(afterMs);
      subscription.unsubscribe();
      stage.pass(1000);
      return stage.server.list(PODS_PATH).length;
    });
    expect(given).toEqual([0, 1]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { healthSlis } from '../../../src/server/routes/health-slis.js';
import { Remark } from '../../../src/server/routes/health.js';
import { KubeletStage } from './kubelet-stage.js';

describe('the metrics of health checks over the kubelet API', () => {
  const stage = new KubeletStage();
  let problem: Error | undefined;
  beforeAll(async () => {
    stage.furnish();
    await stage.start({
      slis: healthSlis(),
      healthChecks: { syncloop: () => problem, manifests: () => new Remark('1 manifest is refused') },
    });
  });
  afterAll(() => stage.dispose());

  const ask = (path: string, method = 'GET') => stage.ask({ path, method, token: 'admin' });
  const series = async (): Promise<readonly string[]> =>
    (await ask('/metrics/slis')).body.split('\n').filter((line) => line.startsWith('kubernetes_'));

  it('count each check of a group, and no single one, until they are reset', async () => {
    expect(await series()).toEqual([]);
    await ask('/healthz/syncloop');
    expect(await series()).toEqual([]);
    await ask('/healthz');
    problem = new Error('the loop hangs');
    await ask('/healthz?exclude=ping');
    expect(await series()).toEqual([
      'kubernetes_healthcheck{name="ping",type="healthz"} 1',
      'kubernetes_healthcheck{name="log",type="healthz"} 1',
      'kubernetes_healthcheck{name="syncloop",type="healthz"} 0',
      'kubernetes_healthcheck{name="manifests",type="healthz"} 1',
      'kubernetes_healthchecks_total{name="ping",type="healthz",status="success"} 1',
      'kubernetes_healthchecks_total{name="log",type="healthz",status="success"} 2',
      'kubernetes_healthchecks_total{name="syncloop",type="healthz",status="success"} 1',
      'kubernetes_healthchecks_total{name="manifests",type="healthz",status="success"} 2',
      'kubernetes_healthchecks_total{name="syncloop",type="healthz",status="error"} 1',
    ]);
    expect(await ask('/metrics/slis', 'DELETE')).toMatchObject({ status: 200, body: 'metrics reset\n' });
    expect(await series()).toEqual([]);
    expect((await ask('/metrics/slis', 'POST')).status).toBe(405);
  });

  it('are for clients with access to metrics', async () => {
    expect((await stage.ask({ path: '/metrics/slis', token: 'scraper' })).status).toBe(200);
    expect((await stage.ask({ path: '/metrics/slis', token: 'guest' })).status).toBe(403);
  });
});

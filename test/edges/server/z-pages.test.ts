import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zPages } from '../../../src/server/diagnostics/z-pages.js';
import { KubeletStage } from './kubelet-stage.js';

const facts = { startedAt: 0, version: '0.1.0', nodeVersion: 'v20', emulationVersion: '1.37', paths: ['/pods'] };
const structured = (kind: string) => `application/json;as=${kind};v=v1beta1;g=config.k8s.io`;

describe('the pages of state and flags over the kubelet API', () => {
  const stage = new KubeletStage();
  const draws = [0, 0.99];
  const pages = zPages({ facts, flags: { v: '4' }, now: () => 61_000, random: () => draws.shift() ?? 0.25 });
  beforeAll(async () => {
    stage.furnish();
    await stage.start({ debugPaths: pages });
  });
  afterAll(() => stage.dispose());

  const get = (path: string, accept?: string) =>
    stage.ask({ path, token: 'admin', ...(accept !== undefined && { headers: { accept } }) });

  it('are text, with a delimiter that is drawn for each reply', async () => {
    expect((await get('/statusz')).body).toContain('\nUp:0 hr 01 min 01 sec\n');
    const { status, headers, body } = await get('/statusz', 'text/plain');
    expect([status, headers['content-type'], headers['x-content-type-options'], headers.vary]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'nosniff',
      'Accept',
    ]);
    expect(body).toContain('\nUp 0 hr 01 min 01 sec\n');
    expect((await get('/flagz', '*/*')).body).toMatch(/^\nkubelet flags\nWarning: .*\n\nv: 4\n$/);
  });

  it('are JSON for a client that names the object', async () => {
    const state = await get('/statusz', structured('Statusz'));
    expect(state.headers['content-type']).toBe('application/json');
    expect(JSON.parse(state.body)).toMatchObject({ kind: 'Statusz', uptimeSeconds: 61, paths: ['/pods'] });
    expect(JSON.parse((await get('/flagz', structured('Flagz'))).body)).toMatchObject({ flags: { v: '4' } });
  });

  it.each([
    ['/statusz', 'application/json'],
    ['/statusz', structured('Flagz')],
    ['/flagz', structured('Statusz')],
    ['/flagz', 'text/html'],
  ])('%s has no other form: %s', async (path, accept) => {
    expect(await get(path, accept)).toMatchObject({ status: 406, body: 'not acceptable\n' });
  });

  it.each(['scraper', 'fine'])('are for clients with access to their subresources, not for %s', async (token) => {
    expect(await stage.ask({ path: '/statusz', token })).toMatchObject({
      status: 403,
      body: `Forbidden (user=${token}, verb=get, resource=nodes, subresource(s)=[statusz])\n`,
    });
    expect((await stage.ask({ path: '/flagz', token })).body).toContain('subresource(s)=[configz])');
  });
});

it('the pages of state and flags do not exist while debugging is off', async () => {
  const stage = new KubeletStage();
  stage.furnish();
  try {
    await stage.start({
      debugPaths: zPages({ facts, flags: {}, now: () => 0, random: () => 0 }),
      switches: {
        enableDebuggingHandlers: false,
        enableSystemLogHandler: true,
        enableProfilingHandler: true,
        enableDebugFlagsHandler: true,
      },
    });
    for (const path of ['/statusz', '/flagz']) {
      expect((await stage.ask({ path, token: 'admin' })).status).toBe(404);
    }
  } finally {
    stage.dispose();
  }
});

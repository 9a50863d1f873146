import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Observable, of, throwError } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { NodeSample } from '../../../src/model/stats/node-sample.js';
import { answerBy } from '../../../src/server/routes/http-routes.js';
import { statsRoutes } from '../../../src/server/routes/stats-routes.js';
import type { RuntimeSample } from '../../../src/streams/ports/node-stats.js';
import { eventually } from '../../embedded/eventually.js';

const SAMPLE: NodeSample = {
  timeMs: 0,
  node: {
    ...{ name: 'n1', bootedAtMs: 0, usage: undefined, network: undefined, disk: undefined, imageDisk: undefined },
    ...{ containerDisk: undefined, tasks: { timeMs: 0, most: 9, current: 3 } },
  },
  systemContainers: [],
  pods: [],
  groups: [],
  fileSystems: [],
  problems: [],
};
const FAILED: NodeSample = { ...SAMPLE, failure: 'no runtime', problems: ['no runtime'] };

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
const serve = async (
  sample$: Observable<NodeSample>,
  runtimeMetrics$: Observable<RuntimeSample | undefined> = of(undefined),
): Promise<number> => {
  const samples = { resources$: sample$, summary$: sample$, cgroups$: sample$, runtimeMetrics$, logs$: of([]) };
  const started = createServer(answerBy(statsRoutes(samples)));
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return (started.address() as AddressInfo).port;
};
const ask = async (port: number, path: string, method = 'GET') => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
};

describe('the paths of statistics', () => {
  it.each(['GET', 'POST'])('answer %s with the summary, whole or CPU and memory alone', async (method) => {
    const port = await serve(of(SAMPLE));
    const whole = await ask(port, '/stats/summary', method);
    expect([whole.status, whole.type]).toEqual([200, 'application/json']);
    expect(JSON.parse(whole.body)).toMatchObject({ node: { nodeName: 'n1', rlimit: { maxpid: 9 } }, pods: [] });
    for (const [value, isWhole] of [
      ['true', false],
      ['1', false],
      ['false', true],
      ['', true],
      ['yes', true],
    ] as const) {
      const { body } = await ask(port, `/stats/summary?only_cpu_and_memory=${value}`, method);
      expect([value, body.includes('rlimit')]).toEqual([value, isWhole]);
    }
  });

  it('answer other methods with 405', async () => {
    const port = await serve(of(SAMPLE));
    expect((await ask(port, '/stats/summary', 'PUT')).status).toBe(405);
    expect((await ask(port, '/metrics/resource', 'POST')).status).toBe(405);
  });

  it('have metrics in the text format', async () => {
    const port = await serve(of(SAMPLE));
    expect(await ask(port, '/metrics/resource')).toEqual({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: '# HELP resource_scrape_error 1 if a figure could not be read, else 0.\n# TYPE resource_scrape_error gauge\nresource_scrape_error 0\n',
    });
    expect((await ask(port, '/metrics/cadvisor')).body).toContain('machine_scrape_error 1\n');
  });

  it('fail for a summary without the pods, and report it in metrics', async () => {
    const port = await serve(of(FAILED));
    expect(await ask(port, '/stats/summary')).toMatchObject({ status: 500, body: 'Internal Error: no runtime' });
    expect((await ask(port, '/metrics/resource')).body).toContain('resource_scrape_error 1');
    expect((await ask(port, '/metrics/cadvisor')).body).toContain('container_scrape_error 1');
  });

  it('answer a failure of their own with 500, and go on', async () => {
    const port = await serve(throwError(() => new Error('a bug')));
    expect(await ask(port, '/metrics/resource')).toMatchObject({ status: 500 });
    expect((await ask(port, '/metrics/cadvisor')).status).toBe(500);
  });

  it('cancel a sample whose client has left', async () => {
    let ended = 0;
    let begun = 0;
    const sample$ = new Observable<NodeSample>(() => {
      begun += 1;
      return () => (ended += 1);
    });
    const port = await serve(sample$);
    const client = connect(port, '127.0.0.1');
    client.write('GET /stats/summary HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the sample has begun', () => begun === 1);
    client.destroy();
    await eventually('it was cancelled', () => ended === 1);
  });

  it('serve the metrics of the runtime instead of those of cgroups', async () => {
    const family = { name: 'container_x', help: 'X.', type: 'gauge', series: [{ labels: '', value: 4 }] } as const;
    const port = await serve(
      throwError(() => new Error('cgroups are not read')),
      of({ families: [family], problems: [] }),
    );
    const { status, body } = await ask(port, '/metrics/cadvisor');
    expect([status, body]).toEqual([200, expect.stringContaining('# TYPE container_x gauge\ncontainer_x 4\n')]);
    expect(body).toContain('machine_scrape_error 1\n');
    expect(body).toContain('container_scrape_error 0\n');
  });
});

import { request } from 'node:https';
import { Subject } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordProfile } from '../../../src/host/record-profile.js';
import { monotonicScheduler } from '../../../src/host/monotonic-scheduler.js';
import { profileRoutes } from '../../../src/server/diagnostics/profiles.js';
import { verbosityRoute } from '../../../src/server/diagnostics/verbosity.js';
import { timedProfile } from '../../../src/streams/server/timed-profile.js';
import { eventually } from '../../embedded/eventually.js';
import { KubeletStage } from './kubelet-stage.js';

interface SampledNode {
  readonly callFrame: { readonly functionName: string };
  readonly children?: readonly SampledNode[];
}
interface CpuProfile {
  readonly nodes: readonly SampledNode[];
  readonly samples: readonly number[];
  readonly startTime: number;
  readonly endTime: number;
}

const kept: number[][] = [];

/** Holds the event loop for at least a tenth of a second, and allocates at least 16 MiB that stay in use. */
const burnForTheProfile = (): void => {
  for (const end = Date.now() + 100; Date.now() < end;) JSON.stringify(process.memoryUsage());
  kept.push(...Array.from({ length: 2_048 }, () => Array.from({ length: 1_024 }, Math.random)));
};

const functionsOf = ({ callFrame, children = [] }: SampledNode): readonly string[] => [
  callFrame.functionName,
  ...children.flatMap(functionsOf),
];

describe('profiles over the kubelet API', () => {
  const stage = new KubeletStage();
  const end$ = new Subject<void>();
  let recordings = 0;
  const take = timedProfile({
    scheduler: monotonicScheduler,
    record: (kind) => {
      recordings += 1;
      return recordProfile(kind, end$);
    },
  });
  const levels: number[] = [];
  beforeAll(async () => {
    stage.furnish();
    await stage.start({ debugPaths: [...profileRoutes(take), verbosityRoute((level) => levels.push(level))] });
  });
  afterAll(() => stage.dispose());

  const get = (path: string) => stage.ask({ path, token: 'admin' });

  /** Takes one, with work under way. */
  const taken = async (path: string) => {
    const before = recordings;
    const reply = get(path);
    await eventually('the profile begins', () => recordings === before + 1);
    burnForTheProfile();
    end$.next();
    return reply;
  };

  it('of the CPU name the functions that ran', async () => {
    const { status, headers, body } = await taken('/debug/pprof/profile?seconds=300');
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'application/json',
      'attachment; filename="profile.cpuprofile"',
    ]);
    const { nodes, samples, startTime, endTime } = JSON.parse(body) as CpuProfile;
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('burnForTheProfile');
    expect(samples.length).toBeGreaterThan(10);
    expect(endTime - startTime).toBeGreaterThanOrEqual(90_000);
  });

  it.each(['heap', 'allocs'])('of memory are sampled: %s', async (name) => {
    const { status, headers, body } = await taken(`/debug/pprof/${name}`);
    expect([status, headers['content-disposition']]).toEqual([200, `attachment; filename="${name}.heapprofile"`]);
    const { head } = JSON.parse(body) as { readonly head: SampledNode };
    expect(head.callFrame.functionName).toBe('(root)');
    expect(functionsOf(head)).toContain('burnForTheProfile');
  });

  it('are taken one at a time, and end with the connection of their client', async () => {
    const before = recordings;
    const { cert, key } = stage.authority.pair('/CN=admin');
    const leaving = request({
      ...{ host: stage.url.hostname, port: stage.url.port, ca: stage.authority.ca, servername: '', cert, key },
      ...{ agent: false, path: '/debug/pprof/profile' },
    });
    leaving.on('error', () => undefined).end();
    await eventually('the profile begins', () => recordings === before + 1);
    expect(await get('/debug/pprof/heap')).toMatchObject({ status: 429, body: 'a profile is being taken already\n' });
    leaving.destroy();
    await eventually('the profile has ended', () => !end$.observed);
    expect((await taken('/debug/pprof/profile')).status).toBe(200);
  });

  it('are listed, with their formats', async () => {
    for (const path of ['/debug/pprof', '/debug/pprof/']) {
      expect((await get(path)).body).toMatch(/^profile\?seconds=30 .*\.cpuprofile/m);
    }
    expect(await get('/debug/pprof/goroutine')).toMatchObject({
      status: 404,
      body: expect.stringContaining('/debug/pprof/ lists its profiles') as string,
    });
    expect((await get('/debug/pprof/profile?seconds=0')).status).toBe(400);
  });

  const put = (body: string, headers: Readonly<Record<string, string>> = {}): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          ...{ host: stage.url.hostname, port: stage.url.port, ca: stage.authority.ca, servername: '' },
          ...{ agent: false, path: '/debug/flags/v', method: 'PUT' },
          headers: { ...headers, authorization: 'Bearer admin' },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.on('end', () => resolve([response.statusCode ?? 0, text]));
        },
      );
      sent.on('error', reject).end(body);
    });

  it('the verbosity is set by the body of a PUT', async () => {
    expect(await put('4\n')).toEqual([200, 'successfully set klog.logging.verbosity to 4\n']);
    expect(levels).toEqual([4]);
    for (const body of ['', 'x', '-1', '4.5', '9'.repeat(100_000)]) {
      const [status, text] = await put(body);
      expect([status, text.slice(0, 34)]).toEqual([400, 'failed set klog.logging.verbosity ']);
    }
    expect(levels).toEqual([4]);
  });
});

import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { simulatedApiServer } from '../../../src/tools/sim/api-server/simulated-api-server.js';
import { faultyApi } from '../../../src/tools/sim/faults/api-faults.js';
import { arm } from '../../../src/tools/sim/faults/armed-fault.js';
import type { ApiCallFault, ApiWayFault } from '../../../src/tools/sim/faults/fault.js';
import { seededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import { ADMIN, podNamed, PODS_PATH } from '../api-server/api-stage.js';

const always = { fromMs: 0, untilMs: 60_000, rate: 1 };

/** Asks for a pod to be created, and watches; the answers, with their times, after two minutes. */
const underFaults = (calls: readonly ApiCallFault[], way: readonly ApiWayFault[] = []) => {
  const scheduler = new VirtualScheduler();
  const startMs = scheduler.now();
  const random = seededRandom('faults');
  const server = simulatedApiServer({ scheduler, random, latencyMs: { min: 2, max: 2 } });
  const since = String(server.revision());
  const faulty = faultyApi({ calls: arm(calls, random), way }, { scheduler, startMs });
  const { api } = faulty({ api: server.connect(ADMIN), resetConnections: () => undefined });
  const heard: string[] = [];
  const hear = (name: string) => ({
    next: () => heard.push(`${scheduler.now() - startMs} ${name}`),
    error: (error: unknown) =>
      heard.push(
        `${scheduler.now() - startMs} ${name}: ${error instanceof ApiError ? (error.code ?? error.message) : 'other'}`,
      ),
    complete: () => heard.push(`${scheduler.now() - startMs} ${name} over`),
  });
  api.request({ method: 'POST', path: PODS_PATH, body: podNamed('web') }).subscribe(hear('request'));
  const watching = api.watch({ path: PODS_PATH, query: { resourceVersion: since } }).subscribe(hear('watch'));
  scheduler.runUntil(startMs + 120_000);
  watching.unsubscribe();
  return { heard, isDone: server.list(PODS_PATH).length === 1, openWatches: server.openWatches() };
};

const request = (heard: readonly string[]) => heard.filter((line) => line.includes('request'));
const watch = (heard: readonly string[]) => heard.filter((line) => line.includes('watch'));

describe('a fault between an agent and the API server', () => {
  it('leaves what it does not strike as it is', () => {
    const { heard, isDone, openWatches } = underFaults([
      { kind: 'api-silent', isDone: false, ...always, fromMs: 50_000 },
    ]);
    expect(request(heard)).toEqual(['2 request', '2 request over']);
    expect(watch(heard)).toHaveLength(2);
    expect({ isDone, openWatches }).toEqual({ isDone: true, openWatches: 0 });
  });

  it('refuses without anything being done', () => {
    const { heard, isDone } = underFaults([{ kind: 'api-refused', code: 503, retryAfterSeconds: 1, ...always }]);
    expect(heard).toEqual(['1 request: 503', '1 watch: 503']);
    expect(isDone).toBe(false);
  });

  it('loses the answer of what was done', () => {
    const { heard, isDone } = underFaults([{ kind: 'api-reply-lost', ...always }]);
    expect(request(heard)).toEqual(['2 request: read ECONNRESET']);
    expect(isDone).toBe(true);
  });

  it.each([true, false])('lets nothing come back, whether it is done (%s) or not', (isDone) => {
    const result = underFaults([{ kind: 'api-silent', isDone, ...always }]);
    expect(result).toMatchObject({ heard: [], isDone });
  });

  it('takes its time there or back', () => {
    const { heard } = underFaults([{ kind: 'api-late', minMs: 5_000, maxMs: 5_000, ...always }]);
    expect(request(heard)[0]).toBe('5002 request');
  });

  it('says of every version that it is too old', () => {
    const { heard } = underFaults([{ kind: 'api-gone', ...always }]);
    expect(request(heard)[0]).toBe('2 request');
    expect([['1 watch: 410'], ['1 watch', '1 watch', '1 watch over']]).toContainEqual(watch(heard));
  });

  it.each(['reset', 'silent'] as const)('cuts the way off (%s)', (how) => {
    const before = underFaults([], [{ kind: 'api-cut', fromMs: 0, untilMs: 60_000, how }]);
    expect(before.isDone).toBe(false);
    expect(before.heard).toEqual(how === 'silent' ? [] : ['1 request: read ECONNRESET', '1 watch: read ECONNRESET']);
    const later = underFaults([], [{ kind: 'api-cut', fromMs: 30_000, untilMs: 60_000, how }]);
    expect(later.isDone).toBe(true);
    expect(watch(later.heard).slice(2)).toEqual(how === 'silent' ? [] : ['30000 watch: read ECONNRESET']);
    expect(later.openWatches).toBe(0);
  });

  it('breaks watches alone', () => {
    const { heard, isDone } = underFaults([], [{ kind: 'api-watches-break', atMs: 1, how: 'reset' }]);
    expect(isDone).toBe(true);
    expect(watch(heard).at(-1)).toBe('1 watch: read ECONNRESET');
  });
});

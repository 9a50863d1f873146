import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Observable, Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { healthServer } from '../../../src/server/health-server.js';
import type { ServerEvent } from '../../../src/server/listening/listen-while.js';
import { readOnlyServer } from '../../../src/server/read-only-server.js';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { eventually } from '../../embedded/eventually.js';

/** A timer of Node: the period of one that repeats, in milliseconds. */
interface Timer {
  readonly _repeat: number | null;
}
const DAY_MS = 86_400_000;

const { registry, countRequests } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
const common = { address: '127.0.0.1', port: 0, healthChecks: {}, names: [] };

describe.each([
  { name: 'the health port', server: () => healthServer(common) },
  {
    name: 'the read-only port',
    server: () => readOnlyServer({ ...common, pods: () => [], metrics: registry, countRequests }),
  },
])('$name', ({ server }) => {
  const timers = new Map<number, Timer>();
  const hook = createHook({
    init: (id, type, _, timer) => {
      if (type === 'Timeout') timers.set(id, timer as Timer);
    },
    destroy: (id) => timers.delete(id),
  });
  let running: Subscription | undefined;
  beforeEach(() => {
    hook.enable();
  });
  afterEach(() => {
    running?.unsubscribe();
    hook.disable();
    timers.clear();
  });

  /** The periods of what repeats more often than once a day. */
  const periods = (): readonly number[] =>
    [...timers.values()].flatMap(({ _repeat }) => (_repeat !== null && _repeat < DAY_MS ? [_repeat] : []));
  const eventuallyPeriods = (what: string, expected: readonly number[]) =>
    eventually(what, () => {
      expect(periods()).toEqual(expected);
      return true;
    });
  const listening = (server$: Observable<ServerEvent>): Promise<string> =>
    new Promise((resolve, reject) => {
      running = server$.subscribe((event) =>
        event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem)),
      );
    });
  const client = async (url: string): Promise<Socket> => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };

  it('checks its connections every two seconds while it has some, and nothing while it has none', async () => {
    const url = await listening(server());
    await eventuallyPeriods('it rests', []);
    const [first, second] = [await client(url), await client(url)];
    await eventuallyPeriods('it checks', [2_000]);
    first.destroy();
    second.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(second, 'data');
    expect(periods()).toEqual([2_000]);
    second.destroy();
    await eventuallyPeriods('it rests again', []);
    const third = await client(url);
    await eventuallyPeriods('it checks again', [2_000]);
    running?.unsubscribe();
    await once(third.resume(), 'close');
    await eventuallyPeriods('nothing is left', []);
  });
});

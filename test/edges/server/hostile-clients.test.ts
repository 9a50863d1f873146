import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { connect as connectPlain, type NetConnectOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { fc } from '@fast-check/vitest';
import { asyncScheduler, defer, finalize, NEVER, of, type Observable, type Subscription } from 'rxjs';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import type { ContainerStatusResponse, DeepPartial, ExecRequest } from '../../../src/generated/runtime/v1/api.js';
import { journalctl } from '../../../src/host/logs/journalctl.js';
import { logReading } from '../../../src/host/logs/log-reading.js';
import { recordProfile } from '../../../src/host/record-profile.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { TokenVerdict } from '../../../src/model/server/authenticate.js';
import { agentServer } from '../../../src/server/agent-server.js';
import { commandRoutes } from '../../../src/server/routes/container-commands.js';
import { containerLogs } from '../../../src/server/logs/container-logs.js';
import { healthServer } from '../../../src/server/health-server.js';
import type { ServerEvent } from '../../../src/server/listening/listen-while.js';
import { nodeLogs } from '../../../src/server/logs/node-logs.js';
import { profileRoutes } from '../../../src/server/diagnostics/profiles.js';
import { readBelow } from '../../../src/server/logs/read-below.js';
import { verbosityRoute } from '../../../src/server/diagnostics/verbosity.js';
import { zPages } from '../../../src/server/diagnostics/z-pages.js';
import { nodeServiceLogs } from '../../../src/streams/server/node-service-logs.js';
import { podLogs } from '../../../src/streams/server/pod-logs.js';
import { runCommand } from '../../../src/streams/server/run-command.js';
import { timedProfile } from '../../../src/streams/server/timed-profile.js';
import { eventually } from '../../embedded/eventually.js';
import { criLine } from '../../support/memory-logs.js';
import { EMPTY_SAMPLE } from '../../support/stats-parts.js';
import { type OddRequest, oddRequests } from './odd-requests.js';
import { header, UPGRADE } from './stream-client.js';
import { StreamStage } from './stream-stage.js';
import { type Behaviour, echoing } from './streaming-peer.js';

/** Connections at a time: below each limit, so that none is closed because there are too many. */
const AT_A_TIME = 40;
const SEED = fc.readConfigureGlobal()?.seed ?? 1;

type Connect = () => Socket;

/** Runs the work for each item, some at a time. */
const forEachOf = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
};

/** Writes the parts and the end, and resolves with the reply when the server has closed the connection. */
const replyTo = (connect: Connect, { parts }: OddRequest): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect();
    let read = '';
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => (read.length < 4_096 ? (read += part) : undefined));
    socket.on('error', () => undefined).on('close', () => resolve(read));
    for (const part of parts) socket.write(part);
    socket.end();
  });

/** What an error of the server itself would be: any 5xx other than those that the runtime of the stage gives. */
const EXPECTED_5XX = /Upgrade request required|container not found|rpc error|not implemented/i;
const isFault = (reply: string): boolean => /^HTTP\/1\.1 5\d\d/.test(reply) && !EXPECTED_5XX.test(reply);

/** The second container is one about which the runtime does not answer. */
const CONTAINERS = ['c', 'slow'];
const pod: Pod = {
  metadata: { name: 'p', namespace: 'd', uid: 'u' },
  spec: { containers: CONTAINERS.map((name) => ({ name, image: 'i' })) },
  status: {
    containerStatuses: CONTAINERS.map((name) => ({
      ...{ name, image: '', imageID: '', ready: true, restartCount: 0 },
      ...{ state: { running: {} }, containerID: `rx://${name}` },
    })),
  },
};

/** It runs in the runtime, too. */
const running = {
  ...{ name: 'p', namespace: 'd', uid: 'u', ips: [], sandboxes: [{ id: 's1', state: 'SANDBOX_READY' }] },
  containers: [{ id: 'c', name: 'c', state: 'running' }],
} as unknown as RuntimePodStatus;

/** What the server waits for while the client of a request is there. */
type Waits = 'token' | 'status' | 'command' | 'exec' | 'sample';

/** A streaming server that does as the client of it says. */
const asAsked: Behaviour = (socket, asked, rest) => {
  if (asked.includes('X-Peer: silent')) return;
  if (asked.includes('X-Peer: refuses')) {
    socket.write(`HTTP/1.1 503 Service Unavailable\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000)}`);
  } else echoing(socket, asked, rest);
};

describe('hostile clients', () => {
  let stage: StreamStage;
  let folder: string;
  let health: URL;
  let socketPath: string;
  const servers: Subscription[] = [];
  const problems: unknown[] = [];
  const note = (problem: unknown): void => void problems.push(problem);

  /** The subscriptions of what the server asks for, by kind. */
  const open = new Map<Waits, number>();
  /** The most that there were at a time. */
  const seen = new Map<Waits, number>();
  const counted = <T>(kind: Waits, source$: Observable<T>): Observable<T> =>
    defer(() => {
      open.set(kind, (open.get(kind) ?? 0) + 1);
      seen.set(kind, Math.max(seen.get(kind) ?? 0, open.get(kind) ?? 0));
      return source$.pipe(finalize(() => open.set(kind, (open.get(kind) ?? 0) - 1)));
    });
  const stillOpen = () => [...open].filter(([, count]) => count > 0);

  const started = (server$: Observable<ServerEvent>): Promise<string> =>
    new Promise((resolve, reject) => {
      servers.push(
        server$.subscribe((event) =>
          event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem)),
        ),
      );
    });

  beforeAll(async () => {
    process.on('unhandledRejection', note).on('uncaughtExceptionMonitor', note);
    // Node warns of a file that it closes because its last user has forgotten it.
    process.on('warning', note);
    folder = mkdtempSync(join(tmpdir(), 'hostile-clients-'));
    const logs = join(folder, 'logs');
    mkdirSync(logs);
    writeFileSync(join(logs, 'big'), Buffer.alloc(16 * 1024 * 1024, 'x'));
    writeFileSync(join(logs, 'c.log'), criLine('line').repeat(100_000));
    stage = await StreamStage.make();
    const read = podLogs({
      pods: () => [pod],
      runtime: {
        containerStatus: ({ containerId }) =>
          counted(
            'status',
            containerId === 'slow'
              ? NEVER
              : of({ status: { state: 'CONTAINER_RUNNING', logPath: join(logs, 'c.log') } } as ContainerStatusResponse),
          ),
      },
      files: logReading,
      splitStreams: false,
      now: () => Date.now(),
      scheduler: asyncScheduler,
    });
    const scheduler = asyncScheduler;
    const debugPaths = [
      containerLogs(read),
      ...nodeLogs(logs, nodeServiceLogs({ journal: journalctl({ path: folder }), files: readBelow(logs), scheduler })),
      ...commandRoutes(
        runCommand({
          pods: () => [pod],
          findRunning: () => running,
          runtime: {
            execSync: ({ cmd }) =>
              counted(
                'command',
                cmd?.[0] === 'wait' ? NEVER : of({ exitCode: 0, stdout: Buffer.from(''), stderr: Buffer.from('') }),
              ),
          },
        }),
      ),
      ...zPages({ flags: {}, now: () => Date.now(), random: Math.random }),
      ...profileRoutes(timedProfile({ record: recordProfile, scheduler })),
      verbosityRoute(() => undefined),
    ];
    stage.peer.behaviour = asAsked;
    const url$ = of({ url: stage.urlOf() });
    const streaming = {
      ...stage.streaming(),
      exec: ({ cmd }: DeepPartial<ExecRequest>) => counted('exec', cmd?.[0] === 'wait' ? NEVER : url$),
      portForward: () => url$,
    };
    const admin: TokenVerdict = { user: { name: 'admin', uid: '', groups: [], extra: {} } };
    const authenticateToken = (token: string) =>
      token === 'slow' ? counted('token', NEVER) : of(token === 'admin' ? admin : {});
    const stats = {
      ...{ resources$: of(EMPTY_SAMPLE), summary$: of(EMPTY_SAMPLE) },
      ...{ cgroups$: counted('sample', NEVER), runtimeMetrics$: of(undefined), logs$: of([]) },
    };
    await stage.begin({ streaming }, { authenticateToken }, { debugPaths, stats });
    health = new URL(await started(healthServer({ address: '127.0.0.1', port: 0, healthChecks: {}, names: [] })));
    socketPath = await started(
      agentServer({
        socketPath: join(folder, 'agent', 'agent.sock'),
        pods: () => [pod],
        metrics: stage.meters.registry,
      }),
    );
  });
  afterAll(() => {
    for (const server of servers) server.unsubscribe();
    stage.dispose();
    rmSync(folder, { recursive: true, force: true });
    process.off('unhandledRejection', note).off('uncaughtExceptionMonitor', note).off('warning', note);
  });

  /** The connections below those of TLS, which can be reset. */
  const below = new WeakMap<Socket, Socket>();
  const api: Connect = () => {
    const plain = apiPort();
    const socket = connectTls({ socket: plain, rejectUnauthorized: false });
    plain.on('error', () => undefined);
    below.set(socket, plain);
    return socket;
  };
  const apiPort: Connect = () => connectPlain({ host: '127.0.0.1', port: Number(stage.url.port) } as NetConnectOpts);
  const healthPort: Connect = () => connectPlain({ host: '127.0.0.1', port: Number(health.port) } as NetConnectOpts);
  const agentSocket: Connect = () => connectPlain({ path: socketPath });

  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  /** The number of handles by kind. */
  const handles = (): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  };
  /** Timers come and go with the servers, which check their connections. */
  const more = (): readonly string[] =>
    Object.entries(handles())
      .filter(([kind, count]) => kind !== 'Timeout' && kind !== 'Immediate' && count > (before.handles[kind] ?? 0))
      .map(([kind, count]) => `${count} ${kind}`);

  const plainStatus = (options: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      plainRequest(options, (response) => {
        text(response).then(() => resolve(response.statusCode), reject);
      })
        .on('error', reject)
        .end();
    });

  let before: { readonly descriptors: number; readonly handles: Readonly<Record<string, number>> };
  beforeEach(async () => {
    // Each server opens what it keeps.
    await goodRequests();
    await eventually('no connection is left', () => !('TCPSocketWrap' in handles()));
    before = { descriptors: descriptors(), handles: handles() };
  });
  afterEach(async () => {
    await goodRequests();
    await eventually('the descriptors are those of before', () => {
      expect(descriptors()).toBeLessThanOrEqual(before.descriptors);
      return true;
    });
    await eventually('nothing is asked for any more', () => {
      expect(stillOpen()).toEqual([]);
      return true;
    });
    await eventually('the handles are those of before', () => {
      expect(more()).toEqual([]);
      return true;
    });
    expect(problems).toEqual([]);
  });

  const goodRequests = async (): Promise<void> => {
    const ask = (path: string) => stage.ask({ path, token: 'admin' });
    expect((await ask('/healthz')).status).toBe(200);
    expect((await ask('/pods')).status).toBe(200);
    expect((await ask('/containerLogs/d/p/c?tailLines=1')).body).toBe('line\n');
    expect(await plainStatus({ host: '127.0.0.1', port: health.port, path: '/healthz', agent: false })).toBe(200);
    expect(await plainStatus({ socketPath, path: '/pods', agent: false })).toBe(200);
  };

  it.each([
    ['the kubelet API', 700, ['200', '400', '401', '404', '405'], () => api],
    ['the port of the kubelet API, without TLS', 2_300, ['none'], () => apiPort],
    ['the health port', 3_500, ['200', '400', '404', '405', '431'], () => healthPort],
    // It takes a command in its URL, and so longer headers than these.
    ['the socket of the agent', 3_500, ['200', '400', '404', '405'], () => agentSocket],
  ] as const)('with odd requests do not harm %s', async (_, count, expected, connectOf) => {
    const faults: [string, string, string][] = [];
    const statuses = new Set<string>();
    await forEachOf(oddRequests(count, SEED), async (odd) => {
      const reply = await replyTo(connectOf(), odd);
      const status = /^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 'none';
      statuses.add(status);
      if (isFault(reply)) faults.push([odd.kind, odd.parts.join('').slice(0, 200), reply.slice(0, 400)]);
    });
    expect(faults).toEqual([]);
    // The requests reach the parts that they are meant for.
    expect([...statuses]).toEqual(expect.arrayContaining([...expected]));
  });

  type Way = 'at once' | 'while it reads' | 'with a reset' | 'while it waits';

  /** A client that has sent this, and then leaves: at once, or after the first bytes of the reply. */
  const vanish = (connect: Connect, bytes: string, way: Way): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect();
      const leave = (): void => {
        if (way === 'with a reset') (below.get(socket) ?? socket).resetAndDestroy();
        else socket.destroy();
      };
      socket.on('error', () => undefined).on('close', () => resolve());
      if (way === 'at once') socket.write(bytes, 'latin1', leave);
      else if (way === 'while it waits') socket.write(bytes, 'latin1', () => setTimeout(leave, 20));
      else socket.once('data', leave).write(bytes, 'latin1');
    });

  /** The status of a reply that may go on. */
  const beginningOf = (bytes: string): Promise<{ readonly status: string; readonly socket: Socket }> =>
    new Promise((resolve, reject) => {
      const socket = api();
      socket.on('error', reject).on('close', () => reject(new Error('it was closed')));
      socket.once('data', (part: Buffer) => {
        socket.pause();
        resolve({ status: /^HTTP\/1\.1 (\d+)/.exec(part.toString('latin1'))?.[1] ?? 'none', socket });
      });
      socket.write(bytes, 'latin1');
    });

  it('that vanish half-way leave nothing behind', async () => {
    const get = (path: string) => header('GET', path, '');
    const waiting = [
      header('GET', '/pods', '', 'slow'),
      get('/containerLogs/d/p/slow'),
      // The second one waits behind the first.
      get('/containerLogs/d/p/slow') + get('/containerLogs/d/p/c'),
      header('POST', '/run/d/p/c?cmd=wait', ''),
      header('POST', '/exec/d/p/c?output=1&command=wait', UPGRADE),
      header('POST', '/exec/d/p/c?output=1', `${UPGRADE}X-Peer: silent\r\n`),
      get('/metrics/cadvisor'),
    ];
    const scenes: readonly (readonly [Connect, string])[] = [
      [api, get('/containerLogs/d/p/c?follow=true')],
      [api, get('/containerLogs/d/p/c')],
      [api, get('/logs/big')],
      [api, get('/logs/?query=big')],
      [api, header('POST', '/exec/d/p/c?output=1&input=1', UPGRADE)],
      [api, `${header('POST', '/exec/d/p/c?output=1&input=1', UPGRADE)}${'x'.repeat(100_000)}`],
      [api, header('POST', '/portForward/d/p', UPGRADE)],
      [api, header('GET', '/debug/pprof/heap?seconds=300', '')],
      [api, header('PUT', '/debug/flags/v', 'Content-Length: 9\r\n')],
      [healthPort, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: '],
      [agentSocket, 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'],
      ...waiting.map((bytes) => [api, bytes] as const),
      [api, header('POST', '/exec/d/p/c?output=1', `${UPGRADE}X-Peer: refuses\r\n`)],
    ];
    const waysOf = (connect: Connect, bytes: string): readonly Way[] => {
      // These have no reply before their end.
      if (/pprof|flags|X: $/.test(bytes)) return ['at once'];
      if (waiting.includes(bytes)) return ['while it waits', 'at once'];
      return connect === agentSocket ? ['at once', 'while it reads'] : ['at once', 'while it reads', 'with a reset'];
    };
    const clients = Array.from({ length: 500 }, (_, index) => {
      const [connect, bytes] = scenes[index % scenes.length]!;
      const ways = waysOf(connect, bytes);
      return [connect, bytes, ways[Math.floor(index / scenes.length) % ways.length]!] as const;
    });
    await forEachOf(clients, ([connect, bytes, way]) => vanish(connect, bytes, way));
    // They have reached what they are meant for.
    expect([...seen.keys()].toSorted()).toEqual(['command', 'exec', 'sample', 'status', 'token']);
    await eventually('nothing is asked for any more', () => stillOpen().length === 0);
    await eventually('the streaming server has no connection', () =>
      stage.peer.sockets.every(({ destroyed }) => destroyed),
    );

    // Each place that they had is free again.
    for (const [what, bytes, limit] of [
      ['streams of a pod', header('POST', '/exec/d/p/c?output=1', UPGRADE), 20],
      ['logs of a pod', get('/containerLogs/d/p/c?follow=true'), 20],
      ['files of logs', get('/logs/big'), 20],
      ['queries of logs', get('/logs/?query=unknown-service&query=none'), 5],
      ['profiles', get('/debug/pprof/allocs?seconds=1'), 1],
    ] as const) {
      // The server may notice later that the last ones have left.
      await eventually(`every place is free: ${what}`, async () => {
        const replies = await Promise.allSettled(Array.from({ length: limit }, () => beginningOf(bytes)));
        for (const reply of replies) if (reply.status === 'fulfilled') reply.value.socket.destroy();
        const statuses = replies.map((reply) =>
          reply.status === 'fulfilled' ? reply.value.status : String(reply.reason),
        );
        expect(statuses.filter((status) => status !== '200' && status !== '101')).toEqual([]);
        return true;
      });
    }
    const commands = Array.from({ length: 10 }, () => {
      const socket = api();
      socket.on('error', () => undefined).write(header('POST', '/run/d/p/c?cmd=wait', ''));
      return socket;
    });
    await eventually('ten commands run', () => open.get('command') === 10);
    for (const socket of commands) socket.destroy();
  });
});

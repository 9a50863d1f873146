import { appendFileSync, mkdirSync, readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { asyncScheduler, defer, NEVER, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContainerStatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { logReading } from '../../../src/host/logs/log-reading.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { ContainerStatus, Pod } from '../../../src/model/pod/pod.js';
import { containerLogs } from '../../../src/server/logs/container-logs.js';
import type { LogReading } from '../../../src/streams/ports/log-reading.js';
import { podLogs, type PodLogsOptions } from '../../../src/streams/server/pod-logs.js';
import { eventually } from '../../embedded/eventually.js';
import { aPod } from '../../support/a-pod.js';
import { criLine } from '../../support/memory-logs.js';
import { Authority } from '../kube-api/authority.js';
import { KubeletStage, openSockets } from './kubelet-stage.js';

const LONG_NAME = `${'x'.repeat(200)}.y`;
const ENDED = { state: { terminated: { exitCode: 1, containerID: 'rx://ended' } } };

const statusOf = (name: string, fields: Partial<ContainerStatus> = {}): ContainerStatus => ({
  ...{ name, image: '', imageID: '', ready: true, restartCount: 0 },
  ...{ state: { running: {} }, containerID: `rx://${name}` },
  ...fields,
});

const podOf = (name: string): Pod => ({
  ...aPod({
    name,
    uid: name,
    spec: {
      initContainers: [{ name: 'init', image: 'i' }],
      containers: ['main', 'waiting', 'removed', 'new'].map((container) => ({ name: container, image: 'i' })),
      ephemeralContainers: [{ name: 'debugger', image: 'i' }],
    },
  }),
  status: {
    initContainerStatuses: [statusOf('init', ENDED)],
    containerStatuses: [
      statusOf('main'),
      statusOf('waiting', { state: { waiting: { reason: 'ImagePullBackOff' } } }),
      statusOf('removed'),
    ],
    ephemeralContainerStatuses: [statusOf('debugger')],
  },
});

/** A kubelet API with the logs of three pods, in files of its folder; a file is that of a container of every pod. */
class LogStage extends KubeletStage {
  readonly logs = this.subfolder('logs');
  isRunning = true;

  path(id: string): string {
    return join(this.logs, `${id}.log`);
  }

  serve(over: Partial<PodLogsOptions> = {}): Promise<void> {
    const containerStatus: PodLogsOptions['runtime']['containerStatus'] = ({ containerId = '' }) =>
      defer(() => {
        if (containerId === 'removed') throw new CriError('not-found', 'ContainerStatus', 'no such container');
        return of({
          status: {
            state: this.isRunning ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
            logPath: this.path(containerId),
          },
        } as ContainerStatusResponse);
      });
    const read = podLogs({
      pods: () => ['web', 'other', LONG_NAME].map(podOf),
      runtime: { containerStatus },
      files: logReading,
      splitStreams: false,
      now: () => Date.now(),
      scheduler: asyncScheduler,
      ...over,
    });
    return this.start({ debugPaths: [containerLogs(read)] });
  }

  /** Begins to follow a log; resolves with the headers of the reply. */
  async follow(path = '/containerLogs/default/web/main?follow=true', tls: object = {}) {
    const { cert, key } = this.authority.pair('/CN=admin');
    const sent = request({
      ...{ host: this.url.hostname, port: this.url.port, ca: this.authority.ca, servername: '', cert, key },
      ...{ agent: false, path },
      ...tls,
    });
    sent.on('error', () => undefined).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const followed = { sent, response, text: '', hasEnded: false, isCut: false };
    response.on('error', () => (followed.isCut = true));
    response.on('end', () => (followed.hasEnded = true));
    return followed;
  }
}

/** Collects what is sent. */
const collect = (followed: Awaited<ReturnType<LogStage['follow']>>) => {
  followed.response.setEncoding('utf8').on('data', (part: string) => (followed.text += part));
  return followed;
};

/** The files below a folder that this process has open. */
const openBelow = (folder: string): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      // The descriptor of this listing.
      return [];
    }
  });

describe('the logs of containers over the kubelet API', () => {
  let stage: LogStage;
  beforeEach(() => {
    stage = new LogStage();
    stage.furnish();
    mkdirSync(stage.logs, { recursive: true });
    for (const id of ['main', 'ended', 'debugger']) writeFileSync(stage.path(id), criLine(`${id} one`));
  });
  afterEach(() => stage.dispose());

  const get = (path: string, method = 'GET') => stage.ask({ path: `/containerLogs${path}`, method, token: 'admin' });

  it('are those of every kind of container, in the reply of upstream', async () => {
    await stage.serve();
    const { status, headers, body } = await get('/default/web/main');
    expect([status, body]).toEqual([200, 'main one\n']);
    expect(headers).toMatchObject({ 'transfer-encoding': 'chunked', 'content-type': 'text/plain; charset=utf-8' });
    expect((await get('/default/web/init')).body).toBe('ended one\n');
    expect((await get('/default/web/debugger')).body).toBe('debugger one\n');
    expect((await get(`/default/${LONG_NAME}/main`)).body).toBe('main one\n');
    expect((await get('/%64efault/web/main?timestamps=true&tail=1')).body).toBe(
      '2026-01-31T12:00:00.000000000Z main one\n',
    );
    expect((await get('/default/web/main?limitBytes=6')).body).toBe('main o');
    expect((await get('/default/web/main?sinceTime=2026-02-01T00:00:00Z')).body).toBe('');
  });

  it.each([
    ['/default/web/main?tailLines=x', 400, '{"message": "Unable to decode query."}'],
    ['/default/web/main?sinceSeconds=0', 422, '{"message": "Invalid request."}'],
    ['/default/wep/main', 404, 'pod "wep" does not exist'],
    ['/kube-system/web/main', 404, 'pod "web" does not exist'],
    ['/default/web/men', 404, 'container "men" not found in pod "web"'],
    [
      '/default/web/waiting',
      400,
      'container "waiting" in pod "web" is waiting to start: trying and failing to pull image',
    ],
    ['/default/web/new', 400, 'container "new" in pod "web" is not available'],
    ['/default/web/main?previous=true', 400, 'previous terminated container "main" in pod "web" not found'],
    ['/default/web/removed', 200, 'unable to retrieve container logs for rx://removed'],
    ['/default/..%2fweb/main', 404, 'pod "../web" does not exist'],
    ['/default/web/%2e%2e', 404, 'container ".." not found in pod "web"'],
    ['/default/web', 404, '404 page not found\n'],
    ['/default/web/main/x', 404, '404 page not found\n'],
  ])('%s: %i %s', async (path, status, body) => {
    await stage.serve();
    expect(await get(path)).toMatchObject({ status, body });
  });

  it('are for GET by clients with access alone', async () => {
    await stage.serve();
    const path = '/containerLogs/default/web/main';
    for (const method of ['POST', 'PUT', 'HEAD']) {
      const { status, headers } = await stage.ask({ path, method, token: 'admin' });
      expect([status, headers.allow]).toEqual([405, 'GET']);
    }
    expect((await stage.ask({ path })).status).toBe(401);
    expect(await stage.ask({ path, token: 'scraper' })).toMatchObject({
      status: 403,
      body: 'Forbidden (user=scraper, verb=get, resource=nodes, subresource(s)=[proxy])\n',
    });
  });

  it('are followed, line by line, over a rotation to the end of the container', async () => {
    writeFileSync(stage.path('main'), '');
    await stage.serve();
    // The headers come before the first line.
    const followed = collect(await stage.follow());
    expect(followed.response.statusCode).toBe(200);
    appendFileSync(stage.path('main'), criLine('one'));
    await eventually('the line is sent', () => followed.text === 'one\n');
    renameSync(stage.path('main'), stage.path('main.1'));
    writeFileSync(stage.path('main'), criLine('two'));
    await eventually('that of the next file, too', () => followed.text === 'one\ntwo\n');
    expect(followed.hasEnded).toBe(false);
    appendFileSync(stage.path('main'), criLine('three'));
    stage.isRunning = false;
    await eventually('the reply ends', () => followed.hasEnded);
    expect(followed.text).toBe('one\ntwo\nthree\n');
    expect(openBelow(stage.logs)).toEqual([]);
  });

  it.each<[string, (stage: LogStage, followed: Awaited<ReturnType<LogStage['follow']>>) => void]>([
    ['vanishes', (_, { sent }) => void sent.destroy()],
    ['ends its side of the connection', (_, { sent }) => void sent.socket?.end()],
    [
      'has a certificate of a former authority',
      (on) => {
        writeFileSync(on.files.clientCa, new Authority(on.subfolder('other')).ca);
        // The files are read with the next request.
        void on.ask({ path: '/healthz' });
      },
    ],
    ['has a server that ends', (on) => on.stop()],
  ])('are not followed for a client that %s', async (_, act) => {
    await stage.serve();
    const before = openSockets();
    const followed = collect(await stage.follow());
    await eventually('the log is open', () => openBelow(stage.logs).length === 1 && followed.text === 'main one\n');
    act(stage, followed);
    await eventually('nothing is open', () => openBelow(stage.logs).length === 0 && openSockets() <= before);
    expect(followed.isCut || followed.response.destroyed).toBe(true);
  });

  it('are followed for longer than the time in which a request has to arrive', { timeout: 60_000 }, async () => {
    await stage.serve();
    const followed = collect(await stage.follow());
    await new Promise((resolve) => setTimeout(resolve, 13_000));
    appendFileSync(stage.path('main'), criLine('late'));
    await eventually('the line is sent', () => followed.text === 'main one\nlate\n');
  });

  it('are read as fast as their client reads, and completely', { timeout: 120_000 }, async () => {
    const line = Buffer.from(criLine('x'.repeat(971)));
    const count = 128 * 1024;
    let read = 0;
    const files: LogReading = {
      open: (_path, use) =>
        use({
          identity: 'endless',
          size: () => of(line.length * count),
          read: (position, length) =>
            defer(() => {
              const end = Math.min(position + length, line.length * count);
              if (end <= position) return of(Buffer.alloc(0));
              const first = Math.floor(position / line.length);
              const lines = Buffer.concat(Array(Math.ceil(end / line.length) - first).fill(line) as Buffer[]);
              read += end - position;
              return of(lines.subarray(position - first * line.length, end - first * line.length));
            }),
        }),
      identity: () => of('endless'),
      changes: () => NEVER,
    };
    await stage.serve({ files });
    const followed = await stage.follow('/containerLogs/default/web/main');
    followed.response.pause();
    let before = -1;
    await eventually('the reading stands still', () => {
      const isStill = read === before;
      before = read;
      return isStill && read > 0;
    });
    // What the sockets of both sides take, and no more than a block beside it.
    expect(read).toBeLessThan(32 * 1024 * 1024);
    let received = 0;
    followed.response.on('data', (part: Buffer) => (received += part.length)).resume();
    await eventually('all is received', () => followed.hasEnded, 60_000);
    expect(received).toBe(972 * count);
  });

  it('have no more than fifty readers, which leave room for others', async () => {
    await stage.serve();
    const pair = stage.authority.pair('/CN=admin');
    const paths = ['web', 'other', LONG_NAME].map((pod) => `/containerLogs/default/${pod}/main?follow=true`);
    const followers = await Promise.all(
      [20, 20, 10].flatMap((count, pod) => Array.from({ length: count }, () => stage.follow(paths[pod], pair))),
    );
    expect(followers.map(({ response }) => response.statusCode)).toEqual(Array(50).fill(200));
    expect(await get('/default/web/main')).toMatchObject({
      status: 429,
      body: '20 logs of this pod are read already, which is the most',
    });
    expect(await get(`/default/${LONG_NAME}/main`)).toMatchObject({
      status: 429,
      body: '50 logs of this node are read already, which is the most',
    });
    expect((await stage.ask({ path: '/healthz', token: 'admin' })).status).toBe(200);
    followers.at(-1)?.sent.destroy();
    await eventually('there is room again', async () => (await get(`/default/${LONG_NAME}/main`)).status === 200);
  });
});

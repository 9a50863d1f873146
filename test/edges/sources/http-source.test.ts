import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { httpSource, type HttpSource } from '../../../src/sources/http-source.js';
import { type Listening, listenTo, manifestOf } from './source-events.js';

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let requests: IncomingMessage[];
let opened: Listening[];

beforeEach(async () => {
  requests = [];
  opened = [];
  server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
});

afterEach(async () => {
  for (const { subscription } of opened) subscription.unsubscribe();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const serve = (body: string | Buffer, status = 200) => {
  answer = (_request, response) => response.writeHead(status).end(body);
};

const listen = (options: Partial<HttpSource> = {}): Listening => {
  const listening = listenTo(httpSource({ url, nodeName: 'node1', httpCheckFrequencyMs: 20, ...options }));
  opened.push(listening);
  return listening;
};

const until = (check: () => void) => vi.waitFor(check, { timeout: 90_000, interval: 5 });
const pod = (name: string) => `${name}-node1`;
const requested = (count: number) => until(() => expect(requests.length).toBeGreaterThanOrEqual(count));

describe('httpSource', () => {
  it('reads one pod or a list of pods, and says nothing more while the body stays the same', async () => {
    serve(manifestOf('a'));
    const listening = listen();
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    await requested(requests.length + 3);
    expect(listening.events.length).toBe(1);
    const item = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    serve(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [item('b'), item('c')] }));
    await until(() => expect(listening.names()).toEqual([pod('b'), pod('c')]));
  });

  it('sends its headers, each value of one on its own', async () => {
    serve(manifestOf('a'));
    listen({ headers: { 'Metadata-Flavor': 'Google', 'X-Many': ['one', 'two'] } });
    await requested(1);
    expect(requests[0]?.headers).toMatchObject({ 'metadata-flavor': 'Google', 'x-many': 'one, two' });
    expect(requests[0]?.method).toBe('GET');
    const many = requests[0]?.rawHeaders.filter((_text, index, all) => all[index - 1] === 'X-Many');
    expect(many).toEqual(['one', 'two']);
  });

  it('keeps its pods through failures, which become quiet, and takes them away with an empty body', async () => {
    serve(manifestOf('a'));
    const listening = listen();
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    serve('broken', 503);
    const severities = () =>
      listening.events.flatMap((event) => (event.kind === 'problem' ? [event.problem.severity] : []));
    await until(() => expect(severities().length).toBeGreaterThanOrEqual(6));
    expect(severities().slice(0, 6)).toEqual(['warning', 'warning', 'warning', 'warning', 'debug', 'debug']);
    expect(listening.problems()[0]).toBe(`${url}: failed to read pods: 503 Service Unavailable`);
    expect(listening.names()).toEqual([pod('a')]);
    serve(manifestOf('a'));
    await until(() => expect(severities()).toContain('info'));
    serve('');
    await until(() => expect(listening.names()).toEqual([]));
    expect(listening.problems().at(-1)).toContain('zero-length data');
  });

  it('refuses a body with anything wrong as a whole, once', async () => {
    serve(manifestOf('a'));
    const listening = listen();
    await until(() => expect(listening.names()).toEqual([pod('a')]));
    serve(`${manifestOf('b')}---\n${manifestOf('C')}`);
    await until(() => expect(listening.problems().length).toBe(2));
    await requested(requests.length + 3);
    expect(listening.problems()).toEqual([
      expect.stringContaining(`${url}:13:9: metadata.name: is "C"`),
      `${url}: failed to read pods: the pods have a problem`,
    ]);
    expect(listening.names()).toEqual([pod('a')]);
  });

  it('gives a request up that takes too long, and goes on', async () => {
    const closed = vi.fn();
    answer = (request) => request.on('close', closed);
    const listening = listen({ timeoutMs: 30 });
    await until(() => expect(listening.problems()).not.toEqual([]));
    await until(() => expect(closed).toHaveBeenCalled());
    serve(manifestOf('a'));
    await until(() => expect(listening.names()).toEqual([pod('a')]));
  });

  it('refuses a body of more than 10 MiB', async () => {
    serve(`${manifestOf('a')}${'#'.repeat(10 * 2 ** 20)}`);
    const listening = listen();
    await until(() => expect(listening.problems()[0]).toContain('the body is larger than 10485760 bytes'));
    expect(listening.names()).toBeUndefined();
  });

  it('refuses a body that is not UTF-8, and says so', async () => {
    serve(Buffer.from(manifestOf('a'), 'utf16le'));
    const listening = listen();
    await until(() => expect(listening.problems().at(0)).toContain('the body is UTF-16, expected UTF-8'));
    expect(listening.names()).toBeUndefined();
  });

  it('reports why no answer comes, and asks again', async () => {
    serve(manifestOf('a'));
    const listening = listen({ url: 'http://127.0.0.1:1/pods' });
    await until(() => expect(listening.problems().length).toBeGreaterThan(1));
    expect(listening.problems()[0]).toContain('ECONNREFUSED');
  });

  it('gives a pod an identity of the URL, and no toleration', async () => {
    serve(manifestOf('a'));
    const listening = listen();
    await until(() => expect(listening.events.length).toBe(1));
    const [event] = listening.events;
    const [read] = event?.kind === 'set' ? event.pods : [];
    expect(read?.spec.tolerations).toBeUndefined();
    expect(read?.metadata.annotations?.['kubernetes.io/config.hash']).toBe(read?.metadata.uid);
  });
});

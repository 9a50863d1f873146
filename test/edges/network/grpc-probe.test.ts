import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { createSecureServer, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer as createTlsSocketServer } from 'node:tls';
import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthService,
} from '../../../src/generated/grpc/health/v1/health.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import { eventually } from '../../embedded/eventually.js';
import { type LocalServers, localServers, selfSigned } from './local-servers.js';
import { probeOnce, SHORT } from './probing.js';

let servers: LocalServers;
const grpcServers: Server[] = [];
beforeEach(() => {
  servers = localServers();
});
afterEach(() => {
  servers.close();
  for (const server of grpcServers.splice(0)) server.forceShutdown();
});

type Answer = (
  call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
  reply: sendUnaryData<HealthCheckResponse>,
) => void;

/** A server of grpc-js, behind a socket whose connections are counted. */
const serveGrpc = (check?: Answer): Promise<number> => {
  const server = new Server();
  grpcServers.push(server);
  if (check) server.addService(HealthService, { check });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return servers.serveUnread((socket) => injector.injectConnection(socket));
};
const ask = (port: number, service?: string, timeoutSeconds?: number): Promise<ProbeOutcome> =>
  probeOnce({ grpc: service === undefined ? { port } : { port, service } }, timeoutSeconds);

/** A server of HTTP/2 that does as it likes with a call. */
const serveHttp2 = (handle: (stream: ServerHttp2Stream) => void): Promise<number> => {
  const server = createHttp2Server();
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    handle(stream);
  });
  return servers.listen(server);
};

/** The same over TLS, with a certificate that no authority has signed. */
const serveGrpcTls = async (): Promise<number> => {
  const { key, cert } = selfSigned();
  const server = new Server();
  grpcServers.push(server);
  server.addService(HealthService, { check: ((_, reply) => reply(null, { status: 'SERVING' })) satisfies Answer });
  const injector = server.createConnectionInjector(
    ServerCredentials.createSsl(null, [{ private_key: Buffer.from(key), cert_chain: Buffer.from(cert) }]),
  );
  return servers.serveUnread((socket) => injector.injectConnection(socket));
};

/** Expects a failure whose connection did not come about, with that text of gRPC. */
const expectUnconnected = ({ result, output }: ProbeOutcome, why: RegExp): void => {
  const start = 'error: health rpc probe failed: rpc error: code = Unavailable desc = connection error: desc = ';
  expect([result, output.slice(0, start.length)]).toEqual(['failure', start]);
  expect(JSON.parse(output.slice(start.length))).toMatch(why);
};

describe('a gRPC probe', () => {
  it('asks for the service that it names, by its own name, over a connection of its own', async () => {
    const asked: unknown[] = [];
    const port = await serveGrpc(({ request, metadata }, reply) => {
      asked.push([request.service, metadata.get('user-agent')]);
      reply(null, { status: 'SERVING' });
    });
    expect(await ask(port)).toEqual({ result: 'success', output: 'service healthy' });
    expect(await ask(port, 'shop.Cart')).toEqual({ result: 'success', output: 'service healthy' });
    expect(asked).toEqual([
      ['', ['kube-probe/1.37']],
      ['shop.Cart', ['kube-probe/1.37']],
    ]);
    expect(servers.taken()).toBe(2);
    await servers.deserted();
  });

  it.each(['NOT_SERVING', 'UNKNOWN', 'SERVICE_UNKNOWN'] as const)('takes %s for a failure', async (answer) => {
    const port = await serveGrpc((_, reply) => reply(null, { status: answer }));
    expect(await ask(port)).toEqual({ result: 'failure', output: `service unhealthy (responded with "${answer}")` });
    await servers.deserted();
  });

  it.each<[string, { code: status; details: string }, string]>([
    [
      'does not know the service',
      { code: status.NOT_FOUND, details: 'unknown service' },
      'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    ],
    [
      'says why in any letters',
      { code: status.INTERNAL, details: 'kaputt: 100 % ärgerlich' },
      'error: health rpc probe failed: rpc error: code = Internal desc = kaputt: 100 % ärgerlich',
    ],
    [
      'gives up by itself',
      { code: status.DEADLINE_EXCEEDED, details: 'late' },
      'timeout: health rpc did not complete within 10m0s',
    ],
  ])('reports a server that %s', async (_, error, output) => {
    const port = await serveGrpc((_call, reply) => reply(error));
    expect(await ask(port)).toEqual({ result: 'failure', output });
    await servers.deserted();
  });

  it('reports a server without the health protocol', async () => {
    const port = await serveGrpc();
    const { result, output } = await ask(port);
    expect(result).toBe('failure');
    expect(output).toMatch(
      /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): ./,
    );
    await servers.deserted();
  });

  it('gives up a server that does not answer, and cancels the call', async () => {
    const heard: string[] = [];
    const port = await serveGrpc((call) => {
      heard.push('asked');
      call.on('cancelled', () => heard.push('cancelled'));
    });
    const scheduler = new VirtualTimeScheduler();
    const outcome = probeOnce({ grpc: { port } }, 2, scheduler);
    await eventually('it is asked', () => heard.length === 1);
    scheduler.flush();
    expect(await outcome).toEqual({ result: 'failure', output: 'timeout: health rpc did not complete within 2s' });
    await servers.deserted();
    expect(heard).toEqual(['asked', 'cancelled']);
  });

  it('gives up a server that takes the connection and is silent, and leaves no connection behind', async () => {
    const port = await servers.serve(() => undefined);
    expect(await ask(port, '', SHORT.seconds)).toEqual({
      result: 'failure',
      output: `timeout: health rpc did not complete within ${SHORT.text}`,
    });
    await servers.deserted();
  });

  it.each([
    ['hangs up', () => servers.serve((socket) => void socket.end()), /^error reading server preface: EOF$/],
    [
      'resets the connection',
      () => servers.serve((socket) => socket.once('data', () => socket.resetAndDestroy())),
      /^error reading server preface: .*ECONNRESET/,
    ],
    [
      'speaks HTTP/1',
      () => servers.listen(createHttpServer((_, response) => response.end())),
      /^error reading server preface: ./,
    ],
    [
      'is not there',
      () => servers.closedPort(),
      /^transport: Error while dialing: dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/,
    ],
  ])('fails at once for a server that %s, and leaves no connection behind', async (_, start, why) => {
    expectUnconnected(await ask(await start()), why);
    await servers.deserted();
  });

  it.each<[string, (stream: ServerHttp2Stream) => void, string]>([
    [
      'answers without gRPC',
      (stream) => {
        stream.respond({ ':status': 404, 'content-type': 'text/html' });
        stream.end('<p>not here</p>');
      },
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ' +
        'unexpected HTTP status code received from server: 404; transport: received unexpected content-type "text/html"',
    ],
    [
      'resets the call',
      (stream) => stream.close(8),
      'error: health rpc probe failed: rpc error: code = Canceled desc = stream terminated by RST_STREAM with error code: CANCEL',
    ],
    [
      'ends without saying how it went',
      (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
        stream.end();
      },
      'error: health rpc probe failed: rpc error: code = Internal desc = server closed the stream without sending trailers',
    ],
    [
      'breaks the connection in the middle',
      () => servers.hangUp(),
      'error: health rpc probe failed: rpc error: code = Unavailable desc = error reading from server: EOF',
    ],
    [
      'sends nonsense',
      (stream) => {
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.end(Buffer.from([0, 0, 0, 0, 9, 8]));
      },
      'error: health rpc probe failed: rpc error: code = Internal desc = grpc: failed to unmarshal the received message: ' +
        'expected 14 bytes, received 6',
    ],
  ])('makes sense of a server that %s', async (_, handle, output) => {
    const port = await serveHttp2(handle);
    expect(await ask(port)).toEqual({ result: 'failure', output });
    await servers.deserted();
  });
});

describe('a gRPC probe with the gate for TLS', () => {
  const probe = (port: number, mode: string | undefined, grpcTls: boolean, seconds?: number): Promise<ProbeOutcome> =>
    probeOnce({ grpc: { port, ...(mode !== undefined && { mode }) } }, seconds, undefined, { grpcTls });
  it('reaches a server with TLS in mode TLS, without a check of its certificate', async () => {
    const port = await serveGrpcTls();
    expect(await probe(port, 'TLS', true)).toEqual({ result: 'success', output: 'service healthy' });
    expect(servers.taken()).toBe(1);
    await servers.deserted();
  });

  it.each([
    ['no mode', undefined, true],
    ['mode Plaintext', 'Plaintext', true],
    ['mode TLS and the gate off', 'TLS', false],
  ] as const)('does not reach it with %s', async (_, mode, grpcTls) => {
    const port = await serveGrpcTls();
    expectUnconnected(await probe(port, mode, grpcTls), /^error reading server preface: ./);
    await servers.deserted();
  });

  it.each([
    [undefined, true],
    ['Plaintext', true],
    ['TLS', false],
  ] as const)('reaches a server without TLS in mode %s, with the gate %s', async (mode, grpcTls) => {
    const port = await serveGrpc((_call, reply) => reply(null, { status: 'SERVING' }));
    expect(await probe(port, mode, grpcTls)).toEqual({ result: 'success', output: 'service healthy' });
    await servers.deserted();
  });

  it('does not reach a server without TLS in mode TLS', async () => {
    const port = await serveGrpc((_call, reply) => reply(null, { status: 'SERVING' }));
    expectUnconnected(await probe(port, 'TLS', true), /^transport: authentication handshake failed: ./);
    await servers.deserted();
  });

  it('does not reach a server with TLS that does not choose HTTP/2', async () => {
    const web = createTlsServer({ ...selfSigned(), ALPNProtocols: ['http/1.1'] }, (_, response) => void response.end());
    const inside = await serveGrpc((_call, reply) => reply(null, { status: 'SERVING' }));
    // Without a choice, but with gRPC behind it.
    const unchosen = createTlsSocketServer(selfSigned(), (socket) => {
      const forwarded = connect(inside, '127.0.0.1');
      for (const end of [socket, forwarded]) end.on('error', () => undefined);
      pipeline(socket, forwarded, socket, () => forwarded.destroy());
    });
    for (const one of [web, unchosen]) {
      const outcome = await probe(await servers.listen(one), 'TLS', true);
      expectUnconnected(
        outcome,
        /^transport: authentication handshake failed: (credentials: cannot check peer: missing selected ALPN property|.*alert no application protocol.*)$/s,
      );
    }
    await servers.deserted();
  });

  it('sends a server with TLS its scheme', async () => {
    const schemes: unknown[] = [];
    const server = createSecureServer(selfSigned());
    server.on('stream', (stream, headers) => {
      schemes.push(headers[':scheme']);
      stream.on('error', () => undefined);
      stream.close(8);
    });
    const port = await servers.listen(server);
    expect(await probe(port, 'TLS', true)).toMatchObject({ result: 'failure' });
    expect(schemes).toEqual(['https']);
    await servers.deserted();
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../../../src/streams/ports/logger.js';
import type { ApiIdentity, IdentityUser } from '../../../src/kube-api/api-identity.js';
import { kubeApi, type KubeApi, type KubeApiOptions } from '../../../src/kube-api/kube-api.js';
import { type Certificate, type Signer, signer } from './signer.js';

/** One request, as the server of a test saw it. */
export interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The common name of the client's certificate; empty without one. */
  readonly from: string;
  /** Which connection it came over, from 1. */
  readonly connection: number;
}

export type Answer = (seen: Seen, response: ServerResponse) => void;

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** What the next requests are answered. */
  answer: Answer;
  /** Every connection that is open. */
  readonly sockets: ReadonlySet<Socket>;
  readonly close: () => void;
}

export const json = (
  response: ServerResponse,
  code: number,
  value: unknown,
  headers: Record<string, string> = {},
): void => void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

/** A folder, a signer and servers for one file of tests, and clients of them. */
export interface ApiStage {
  readonly ca: Signer;
  readonly folder: string;
  /** With TLS by default. */
  readonly serve: (certificate?: Certificate, tls?: boolean) => Promise<TestServer>;
  readonly client: (identity: Partial<ApiIdentity> & { server: string }, options?: Partial<KubeApiOptions>) => KubeApi;
  readonly as: (server: TestServer, user: IdentityUser, options?: Partial<KubeApiOptions>) => KubeApi;
  readonly logged: readonly string[];
  /** Writes a file into the folder, and gives its path. */
  readonly write: (name: string, content: string, mode?: number) => string;
  readonly onEnd: (close: () => void) => void;
  readonly end: () => void;
}

export const apiStage = (): ApiStage => {
  const folder = mkdtempSync(join(tmpdir(), 'kube-api-'));
  const ca = signer(folder);
  const serverCertificate = ca.server('api.test');
  const closing: (() => void)[] = [];

  const serve = async (certificate: Certificate | undefined = serverCertificate, tls = true): Promise<TestServer> => {
    const sockets = new Set<Socket>();
    const numbers = new WeakMap<Socket, number>();
    let connections = 0;
    const listener: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { socket } = request;
        const peer = tls ? (socket as TLSSocket).getPeerCertificate() : undefined;
        const seen = {
          line: `${request.method} ${request.url}`,
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          from: String(peer?.subject?.CN ?? ''),
          connection: numbers.get(socket) ?? 0,
        };
        server.seen.push(seen);
        server.answer(seen, response);
      });
    };
    const listening = tls
      ? createHttps({ ...certificate, ca: ca.ca, requestCert: true, rejectUnauthorized: false }, listener)
      : createHttp(listener);
    listening.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      connections += 1;
      numbers.set(socket, connections);
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const { port } = listening.address() as AddressInfo;
    const server: TestServer = {
      url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
      port,
      seen: [],
      answer: (_, response) => json(response, 200, { kind: 'Ok' }),
      sockets,
      close: () => {
        for (const socket of sockets) socket.destroy();
        listening.close();
      },
    };
    closing.push(server.close);
    return server;
  };

  const logged: string[] = [];
  const log = {
    info: (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`),
    warn: (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  } satisfies Partial<Logger>;
  const client = (
    identity: Partial<ApiIdentity> & { server: string },
    options: Partial<KubeApiOptions> = {},
  ): KubeApi => {
    const api = kubeApi(
      { ca: { pem: ca.ca }, user: {}, ...identity },
      { userAgent: 'rx-kubelet/1.2.3 (linux/amd64)', log, env: { PATH: process.env.PATH }, ...options },
    );
    closing.push(api.close);
    return api;
  };
  return {
    ca,
    folder,
    serve,
    client,
    as: (server, user, options) => client({ server: server.url, user }, options),
    logged,
    write: (name, content, mode = 0o600) => {
      writeFileSync(join(folder, name), content, { mode });
      return join(folder, name);
    },
    onEnd: (close) => void closing.push(close),
    end: () => {
      for (const close of closing) close();
      rmSync(folder, { recursive: true });
    },
  };
};

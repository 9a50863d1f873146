import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthService,
} from '../../src/generated/grpc/health/v1/health.js';

/** One server of each kind that probes over the network ask. The service of a request is in the path, or the name of the service. */
export interface HealthServer {
  readonly ports: { readonly http: number; readonly tcp: number; readonly grpc: number };
  /** How often each was asked about; connections of the TCP server count for `tcp`. */
  readonly asked: ReadonlyMap<string, number>;
  /** Asks about these are answered badly. */
  readonly sick: Set<string>;
  readonly close: () => void;
}

export const healthServer = async (): Promise<HealthServer> => {
  const asked = new Map<string, number>();
  const sick = new Set<string>();
  const isWell = (name: string): boolean => {
    asked.set(name, (asked.get(name) ?? 0) + 1);
    return !sick.has(name);
  };
  const http = createHttpServer(({ url = '' }, response) =>
    response.writeHead(isWell(url.slice(1)) ? 200 : 503).end('answered'),
  );
  const tcp = createTcpServer((socket) => {
    isWell('tcp');
    socket.on('error', () => undefined).resume();
  });
  const grpc = new Server();
  const check = (
    { request }: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
    reply: sendUnaryData<HealthCheckResponse>,
  ) => reply(null, { status: isWell(request.service) ? 'SERVING' : 'NOT_SERVING' });
  grpc.addService(HealthService, { check });
  const grpcPort = new Promise<number>((resolve, reject) =>
    grpc.bindAsync('0.0.0.0:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
  return {
    ports: { http: await listening(http), tcp: await listening(tcp), grpc: await grpcPort },
    asked,
    sick,
    close: () => {
      http.close();
      http.closeAllConnections();
      tcp.close();
      grpc.forceShutdown();
    },
  };
};

const listening = async (server: TcpServer): Promise<number> => {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

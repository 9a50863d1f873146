/**
 * The servers that the pods of bench/probes.ts are asked by, in a process of its own so that what they cost is not counted. Told
 * how many, it says on which ports they listen; then it answers every message with what has arrived since.
 */
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthService,
} from '../../src/generated/grpc/health/v1/health.js';

export interface Ports {
  readonly http: number;
  readonly grpc: number;
  /** One for each pod: nothing is said over a TCP connection. */
  readonly tcp: readonly number[];
}
/** When each pod was asked, by its number, in milliseconds. */
export type Arrivals = Readonly<Record<string, readonly number[]>>;

const arrivals = new Map<string, number[]>();
const arrived = (name: string): void => {
  const times = arrivals.get(name) ?? [];
  if (times.length === 0) arrivals.set(name, times);
  times.push(performance.now());
};

const listening = async (server: TcpServer): Promise<number> => {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const serve = async (pods: number): Promise<Ports> => {
  const http = createHttpServer(({ url = '' }, response) => {
    arrived(url.slice(1));
    response.end('ok');
  });
  const grpc = new Server();
  const check = (
    { request }: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
    reply: sendUnaryData<HealthCheckResponse>,
  ) => {
    arrived(request.service);
    reply(null, { status: 'SERVING' });
  };
  grpc.addService(HealthService, { check });
  const grpcPort = new Promise<number>((resolve, reject) =>
    grpc.bindAsync('0.0.0.0:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
  const tcp = Array.from({ length: pods }, (_, index) =>
    listening(
      createTcpServer((socket) => {
        arrived(`${index}`);
        socket.on('error', () => undefined).resume();
      }),
    ),
  );
  return { http: await listening(http), grpc: await grpcPort, tcp: await Promise.all(tcp) };
};

const ports = await serve(Number(process.argv[2]));
process.on('message', () => {
  process.send?.(Object.fromEntries(arrivals) satisfies Arrivals);
  arrivals.clear();
});
process.send?.(ports);

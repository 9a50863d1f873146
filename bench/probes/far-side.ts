/**
 * The servers of the pods of bench/probes.ts, in another process so that their CPU time is not counted. The argument is the number of pods;
 * the first message has the ports. Each message from the parent is answered with the probes since the last one.
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
  /** One for each pod, since a TCP connection carries no name. */
  readonly tcp: readonly number[];
}
/** The times of the probes of each pod, by its number, in milliseconds. */
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

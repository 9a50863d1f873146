import { Observable, type SchedulerLike } from 'rxjs';
import { parseContainerAnnotations } from '../../../model/cri/labels.js';
import { HttpFailure } from '../../../model/config/http-failure.js';
import { hostAndPort, type HttpGetAnswer, urlOf } from '../../../model/config/http-get.js';
import { HealthFailure } from '../../../model/probes/health-failure.js';
import type { CheckHealth, HealthCheckProgress } from '../../../streams/ports/check-health.js';
import type { HttpRequest } from '../../../streams/ports/http-request.js';
import type { ServerAddress, TcpConnect } from '../../../streams/ports/tcp-connect.js';
import type { LatencyRange, ProbeName } from '../world/behaviour.js';
import { type ProbeAnswer, probeAnswer, type Question } from './probe-answer.js';
import type { SimulatedContainer } from '../runtime/container.js';
import type { RuntimeStore } from '../runtime/runtime-store.js';
import type { SeededRandom } from '../world/seeded-random.js';
import type { TellWorld } from '../world/world-event.js';

export interface SimulatedNetworkOptions {
  readonly scheduler: SchedulerLike;
  readonly random: SeededRandom;
  readonly store: RuntimeStore;
  /** The addresses of the node, at which containers on its network listen. */
  readonly nodeIps: readonly string[];
  readonly latencyMs?: LatencyRange;
  readonly tell?: TellWorld;
}

/**
 * The container of a request, if known. It decides cases that the network cannot, since no spec has to declare the port
 * of a container.
 */
export interface NetworkAsker {
  readonly which?: ProbeName | undefined;
  readonly containerId?: string | undefined;
}

export interface NetworkPorts {
  readonly httpRequest: HttpRequest;
  readonly tcpConnect: TcpConnect;
  readonly checkHealth: CheckHealth;
}

/** The agent's own host, which is the node. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];
/** The time for which the kernel looks for the owner of an address of this network. */
const NO_ROUTE_MS = 3000;

/**
 * The agent's requests over the network, answered by the containers at the address: by the one that declares the port,
 * else by the one of the request, else by the first.
 */
export const simulatedNetwork = ({
  scheduler,
  random,
  store,
  nodeIps,
  latencyMs = { min: 0, max: 1 },
  tell = () => undefined,
}: SimulatedNetworkOptions): ((asker?: NetworkAsker) => NetworkPorts) => {
  const containersAt = (host: string): readonly SimulatedContainer[] | undefined => {
    if (!nodeIps.includes(host) && !LOOPBACK.includes(host)) {
      const sandbox = store.sandboxAt(host);
      return sandbox && store.containersIn(sandbox).filter(({ isRunning }) => isRunning);
    }
    return [...store.sandboxes.values()].flatMap((sandbox) =>
      sandbox.isOnNodeNetwork ? store.containersIn(sandbox).filter(({ isRunning }) => isRunning) : [],
    );
  };

  /** The result of a connection, and its delay. */
  const ask = (
    { host, port }: ServerAddress,
    asker: NetworkAsker,
    question: Question,
  ): { readonly afterMs: number; readonly answer: ProbeAnswer | 'no-route' } => {
    const wayMs = random.integer(latencyMs.min, latencyMs.max);
    const containers = containersAt(host);
    if (!containers) return { afterMs: NO_ROUTE_MS, answer: 'no-route' };
    const container = listener(containers, port, asker.containerId);
    if (!container) return { afterMs: wayMs, answer: 'refuses' };
    const { behaviour, startedAtMs = 0 } = container;
    const answer = probeAnswer(behaviour, question, scheduler.now() - startedAtMs);
    const { which, containerId: meantFor = container.told.containerId } = asker;
    const ok = answer === 'succeeds';
    tell({
      kind: 'asked',
      at: scheduler.now(),
      how: HOW[question.kind],
      ...(which && { which }),
      ...(meantFor !== container.told.containerId && { meantFor }),
      ok,
      ...container.told,
    });
    const isConnection = question.kind === 'tcpSocket' || answer === 'refuses';
    return { afterMs: wayMs + (isConnection ? 0 : (behaviour.answersAfterMs ?? 0)), answer };
  };

  return (asker = {}) => ({
    httpRequest: (request, { timeoutMs = Infinity, maxBodyBytes }) =>
      new Observable<HttpGetAnswer>((subscriber) => {
        const path = request.target.split('?', 1)[0] ?? '';
        const { port } = request;
        const { afterMs, answer } = ask(request, asker, { kind: 'httpGet', which: asker.which, path, port });
        const fail = (detail: string) =>
          subscriber.error(new HttpFailure('request', `Get "${urlOf(request)}": ${detail}`));
        if (answer === 'hangs' || afterMs > timeoutMs) {
          if (timeoutMs < Infinity) subscriber.add(scheduler.schedule(() => fail(LATE), timeoutMs));
          return;
        }
        const act = () => {
          if (answer === 'refuses' || answer === 'no-route') return fail(dialError(request, answer));
          const [status, body] = answer === 'succeeds' ? [200, 'ok'] : [500, 'not healthy'];
          subscriber.next({ status, body: body.slice(0, maxBodyBytes) });
          subscriber.complete();
        };
        subscriber.add(scheduler.schedule(act, afterMs));
      }),
    tcpConnect: (address) =>
      new Observable<never>((subscriber) => {
        const question = { kind: 'tcpSocket', which: asker.which, port: address.port } as const;
        const { afterMs, answer } = ask(address, asker, question);
        if (answer === 'hangs') return;
        const act = () =>
          answer === 'succeeds'
            ? subscriber.complete()
            : subscriber.error(new Error(dialError(address, answer === 'no-route' ? answer : 'refuses')));
        subscriber.add(scheduler.schedule(act, afterMs));
      }),
    checkHealth: (request) =>
      new Observable<HealthCheckProgress>((subscriber) => {
        const question = { kind: 'grpc', which: asker.which, port: request.port } as const;
        const { afterMs, answer } = ask(request, asker, question);
        const act = () => {
          if (answer === 'refuses' || answer === 'no-route') {
            const what = `transport: Error while dialing: ${dialError(request, answer)}`;
            const why = `connection error: desc = ${JSON.stringify(what)}`;
            return subscriber.error(new HealthFailure('connect', 'Unavailable', why));
          }
          subscriber.next({ kind: 'connected' });
          if (answer === 'hangs') return;
          subscriber.next({ kind: 'answered', status: answer === 'succeeds' ? 'SERVING' : 'NOT_SERVING' });
          subscriber.complete();
        };
        subscriber.add(scheduler.schedule(act, afterMs));
      }),
  });
};

const HOW = { exec: 'exec', httpGet: 'http', tcpSocket: 'tcp', grpc: 'grpc' } as const;

const LATE = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';

const dialError = (to: ServerAddress, answer: 'refuses' | 'no-route'): string =>
  `dial tcp ${hostAndPort(to)}: connect: ${answer === 'refuses' ? 'connection refused' : 'no route to host'}`;

const listener = (
  containers: readonly SimulatedContainer[],
  port: number,
  meant: string | undefined,
): SimulatedContainer | undefined =>
  containers.find((container) => declares(container, port)) ??
  containers.find(({ id }) => id === meant) ??
  (meant === undefined ? containers[0] : undefined);

const declares = ({ annotations }: SimulatedContainer, port: number): boolean =>
  parseContainerAnnotations(annotations).ports?.some(({ containerPort }) => containerPort === port) ?? false;

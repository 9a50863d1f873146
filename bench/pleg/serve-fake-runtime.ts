import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncScheduler, lastValueFrom, map, type Observable } from 'rxjs';
import * as api from '../../src/generated/runtime/v1/api.js';
import { isCriError } from '../../src/model/cri/cri-error.js';
import type { RuntimeService } from '../../src/streams/ports/runtime-service.js';
import { type Behaviour, fakeRuntime } from '../../test/support/fake-runtime.js';

interface Type {
  readonly fromPartial: (fields: object) => object;
}
type Calls = Readonly<Record<string, (request: never) => Observable<object>>>;
type Answer = (error: object | null, response?: object) => void;

const failureOf = (error: unknown): object => ({
  code: isCriError(error, 'unimplemented')
    ? status.UNIMPLEMENTED
    : isCriError(error, 'not-found')
      ? status.NOT_FOUND
      : status.UNKNOWN,
  details: String(error),
});

/**
 * Serves the in-memory runtime of the tests as CRI on a socket, with events: any number of pods, and no process. `behaviours` are by the
 * names of containers.
 */
export const serveFakeRuntime = async (
  socket: string,
  behaviours: Readonly<Record<string, Behaviour>> = {},
): Promise<void> => {
  const fake = fakeRuntime(asyncScheduler, { behaviours });
  const logs = `${socket}-logs`;
  mkdirSync(logs, { recursive: true });
  const runtime: RuntimeService = {
    ...fake.runtime,
    // A small log, which the agent may remove with its container.
    containerStatus: (request) =>
      fake.runtime.containerStatus(request).pipe(
        map((answer) => {
          const { status } = answer;
          if (!status) return answer;
          const logPath = join(logs, `${status.id}.log`);
          if (!existsSync(logPath)) writeFileSync(logPath, 'a line\n');
          return { ...answer, status: { ...status, logPath } };
        }),
      ),
  };
  const server = new Server();
  const services = [
    [api.RuntimeServiceService, runtime],
    [api.ImageServiceService, fake.images],
  ] as const;
  for (const [service, port] of services) {
    const calls = port as unknown as Calls;
    const handlers = Object.entries(service).map(([name, { responseStream }]) => {
      if (name === 'getContainerEvents') return [name, sendEvents(runtime.containerEvents)];
      const type = (api as unknown as Record<string, Type>)[`${name.charAt(0).toUpperCase()}${name.slice(1)}Response`];
      const call = calls[name];
      if (responseStream || !call || !type) {
        const details = `${name} is not simulated`;
        const refuse = (stream: ServerWritableStream<object, object>, answer?: Answer): void => {
          if (answer) answer({ code: status.UNIMPLEMENTED, details });
          else stream.emit('error', { code: status.UNIMPLEMENTED, details });
        };
        return [name, refuse];
      }
      const unary = ({ request }: ServerUnaryCall<never, object>, answer: Answer): void => {
        lastValueFrom(call(request)).then(
          (response) => answer(null, type.fromPartial(response)),
          (error: unknown) => answer(failureOf(error)),
        );
      };
      return [name, unary];
    });
    server.addService(service, Object.fromEntries(handlers) as UntypedServiceImplementation);
  }
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
};

const sendEvents =
  (event$: () => Observable<api.ContainerEventResponse>) =>
  (stream: ServerWritableStream<object, object>): void => {
    const subscription = event$().subscribe((event) => stream.write(api.ContainerEventResponse.fromPartial(event)));
    stream.on('cancelled', () => subscription.unsubscribe());
  };

import { type Client, type ClientUnaryCall, Metadata } from '@grpc/grpc-js';
import { catchError, defer, Observable, of, type MonoTypeOperatorFunction, Subscription, timer } from 'rxjs';
import {
  type ContainerEventResponse,
  type DeepPartial,
  GetEventsRequest,
  RuntimeServiceService,
} from '../generated/runtime/v1/api.js';
import { callDeadlineMs, type TimedRequest } from '../model/cri/call-deadline.js';
import type { ResponseProblem } from '../model/cri/response-problem.js';
import { CriError, errorText, isCriError } from '../model/cri/cri-error.js';
import { inTurns } from '../streams/operators/in-turns.js';
import type { CriCall } from '../streams/ports/runtime-service.js';
import { toCriError } from './cri-status.js';

/** The connection for calls, and the callback for their ends. */
export interface Connection {
  readonly client: Client;
  readonly endpoint: string;
  readonly requestTimeoutMs: number;
  readonly observe: (operation: string, durationMs: number, error?: CriError) => void;
  /** Lets replies of 64 KiB together pass in one turn of the event loop, or one that is larger, since a message is decoded in one go. */
  readonly inTurn: () => MonoTypeOperatorFunction<Buffer>;
}
export interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}
export interface Message<T> {
  readonly fromPartial: (partial: DeepPartial<T>) => T;
}

const MOST_BYTES_IN_A_TURN = 64 * 1024;
/** A request is encoded in a turn of its own if it took longer than that to make. Milliseconds. */
export const LONG_MS = 5;

/** Makes `Connection.inTurn`. */
export const repliesInTurns = (): Connection['inTurn'] => {
  const inTurn = inTurns({ most: MOST_BYTES_IN_A_TURN });
  return () => inTurn(({ length }) => length);
};

/** `/runtime.v1.RuntimeService/StartContainer` is the call `StartContainer`. */
const callOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Calls the observer once when a call ends. */
const stopwatch = (
  { observe }: Connection,
  operation: string,
  call: string,
): { readonly ended: (error?: CriError) => void; readonly left: () => void } => {
  const startedAt = performance.now();
  let isRunning = true;
  const ended = (error?: CriError): void => {
    if (!isRunning) return;
    isRunning = false;
    observe(operation, performance.now() - startedAt, error);
  };
  const left = (): void => {
    if (isRunning) ended(new CriError('cancelled', call, 'the agent cancelled the call'));
  };
  return { ended, left };
};

/** A call with one reply. `problemOf` returns the problem of a reply that is not valid. */
export const unary = <Request extends object, Response>(
  connection: Connection,
  operation: string,
  { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
  message: Message<Request>,
  problemOf: ResponseProblem<Response> = () => undefined,
): CriCall<Request, Response> => {
  const call = callOf(path);
  return (partial) =>
    new Observable((subscriber) => {
      const { ended, left } = stopwatch(connection, operation, call);
      const fail = (error: CriError): void => {
        ended(error);
        subscriber.error(error);
      };
      const take = (bytes: Buffer): void => {
        let response: Response;
        try {
          response = responseDeserialize(bytes);
        } catch (error) {
          return fail(new CriError('other', call, `cannot decode the reply: ${errorText(error)}`));
        }
        const problem = problemOf(response);
        if (problem !== undefined) return fail(new CriError('other', call, problem));
        ended();
        subscriber.next(response);
        subscriber.complete();
      };
      const startedAt = performance.now();
      const request = message.fromPartial(partial);
      const deadlineMs = callDeadlineMs(call, request satisfies TimedRequest, connection.requestTimeoutMs);
      const work = new Subscription(left);
      const send = (): void => {
        const rpc: ClientUnaryCall = connection.client.makeUnaryRequest(
          path,
          requestSerialize,
          asBytes,
          request,
          new Metadata(),
          deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs },
          (error, bytes) => {
            if (error) return fail(toCriError(error, call, connection.endpoint));
            if (bytes === undefined) return fail(new CriError('other', call, 'the runtime sent no reply'));
            work.add(of(bytes).pipe(connection.inTurn()).subscribe(take));
          },
        );
        work.add(() => rpc.cancel());
      };
      if (performance.now() - startedAt <= LONG_MS) send();
      else work.add(timer(0).subscribe(send));
      return work;
    });
};

const asBytes = (bytes: Buffer): Buffer => bytes;

/**
 * A listing that arrives in parts, as one reply. So a list may be longer than one message.
 *
 * Source: cri-client/pkg/remote_runtime.go, the streaming variants behind the gate CRIListStreaming.
 */
export const streamedList = <Request extends object, Part, Response>(
  connection: Connection,
  operation: string,
  { path, requestSerialize, responseDeserialize }: Method<Request, Part>,
  message: Message<Request>,
  join: (parts: readonly Part[]) => Response,
): CriCall<Request, Response> => {
  const call = callOf(path);
  return (partial) =>
    new Observable((subscriber) => {
      const parts: Part[] = [];
      const { ended, left } = stopwatch(connection, operation, call);
      const rpc = connection.client.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        message.fromPartial(partial),
        new Metadata(),
        { deadline: Date.now() + connection.requestTimeoutMs },
      );
      rpc.on('data', (part: Part) => parts.push(part));
      rpc.on('error', (error: Parameters<typeof toCriError>[0]) => {
        const failure = toCriError(error, call, connection.endpoint);
        ended(failure);
        subscriber.error(failure);
      });
      rpc.on('end', () => {
        ended();
        subscriber.next(join(parts));
        subscriber.complete();
      });
      return () => {
        left();
        rpc.cancel();
      };
    });
};

/** Calls `preferred`, until the runtime reports that it does not implement it; from then on `other`. */
export const orElse = <Request, Response>(
  preferred: CriCall<Request, Response>,
  other: CriCall<Request, Response>,
): CriCall<Request, Response> => {
  let isThere = true;
  return (request) =>
    defer(() => {
      if (!isThere) return other(request);
      return preferred(request).pipe(
        catchError((error: unknown) => {
          if (!isCriError(error, 'unimplemented')) throw error;
          isThere = false;
          return other(request);
        }),
      );
    });
};

/**
 * Container events. The stream lives as long as the connection. An end by the runtime is an error with every status.
 */
export const containerEvents = (connection: Connection): Observable<ContainerEventResponse> => {
  const { path, requestSerialize, responseDeserialize } = RuntimeServiceService.getContainerEvents;
  const call = callOf(path);
  return new Observable((subscriber) => {
    const { ended, left } = stopwatch(connection, 'get_container_events', call);
    const fail = (error: CriError): void => {
      ended(error);
      subscriber.error(error);
    };
    const rpc = connection.client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      GetEventsRequest.fromPartial({}),
      new Metadata(),
      {},
    );
    rpc.on('data', (event: ContainerEventResponse) => subscriber.next(event));
    rpc.on('error', (error: Parameters<typeof toCriError>[0]) => fail(toCriError(error, call, connection.endpoint)));
    rpc.on('end', () => fail(new CriError('other', call, 'the runtime ended the stream of container events')));
    return () => {
      left();
      rpc.cancel();
    };
  });
};

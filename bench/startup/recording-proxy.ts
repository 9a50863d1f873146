import {
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { ImageServiceService, RuntimeServiceService } from '../../src/generated/runtime/v1/api.js';

/** A recorded call: its name, such as `StartContainer`, its time, in Unix milliseconds, and its request in bytes. */
export interface RecordedCall {
  readonly call: string;
  readonly at: number;
  readonly request: Buffer;
}

export interface RecordingProxy {
  readonly calls: readonly RecordedCall[];
  /** The times of parts of streams, such as events, in Unix milliseconds. */
  readonly parts: readonly number[];
  readonly close: () => void;
}

type Methods = Readonly<
  Record<string, Pick<MethodDefinition<never, never>, 'path' | 'requestStream' | 'responseStream'>>
>;
const SERVICES: readonly Methods[] = [RuntimeServiceService, ImageServiceService];

const asBytes = (bytes: Buffer): Buffer => bytes;

/** Serves CRI on `socket`: passes every call unchanged to the runtime at `endpoint`, and keeps the requests. */
export const recordingProxy = async (endpoint: string, socket: string): Promise<RecordingProxy> => {
  const calls: RecordedCall[] = [];
  const parts: number[] = [];
  const client = new Client(endpoint, credentials.createInsecure(), { 'grpc.default_authority': 'localhost' });
  const server = new Server();

  const forward = ({ path }: { readonly path: string }) => {
    const call = path.slice(path.lastIndexOf('/') + 1);
    return ({ request }: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>): void => {
      calls.push({ call, at: performance.timeOrigin + performance.now(), request });
      client.makeUnaryRequest(path, asBytes, asBytes, request, new Metadata(), (error, response) =>
        reply(error, response),
      );
    };
  };
  const relay =
    ({ path }: { readonly path: string }) =>
    (stream: ServerWritableStream<Buffer, Buffer>): void => {
      const answer = client.makeServerStreamRequest(path, asBytes, asBytes, stream.request, new Metadata());
      answer.on('data', (part: Buffer) => {
        parts.push(performance.timeOrigin + performance.now());
        stream.write(part);
      });
      answer.on('error', (error) => stream.emit('error', error));
      answer.on('end', () => stream.end());
      stream.on('cancelled', () => answer.cancel());
    };

  for (const service of SERVICES) {
    const methods = Object.entries(service).map(([name, method]) => {
      const raw: MethodDefinition<Buffer, Buffer> = {
        ...method,
        requestSerialize: asBytes,
        requestDeserialize: asBytes,
        responseSerialize: asBytes,
        responseDeserialize: asBytes,
      };
      return [name, raw] as const;
    });
    const handlers = methods.map(
      ([name, method]) => [name, method.responseStream ? relay(method) : forward(method)] as const,
    );
    server.addService(Object.fromEntries(methods), Object.fromEntries(handlers));
  }
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  return {
    calls,
    parts,
    close: () => {
      server.forceShutdown();
      client.close();
    },
  };
};

import type { ServiceDefinition } from '@grpc/grpc-js';

export interface Codec<Answer> {
  readonly path: string;
  readonly requestDeserialize: (bytes: Buffer) => object;
  readonly responseDeserialize: (bytes: Buffer) => Answer;
  readonly responseSerialize: (answer: Answer) => Buffer;
}

/** The codec of a message that stays as it came. */
export const same = (bytes: Buffer): Buffer => bytes;

/** The same service, whose messages stay as they came. */
export const asBytes = (service: ServiceDefinition): ServiceDefinition =>
  Object.fromEntries(
    Object.entries(service).map(([name, method]) => [
      name,
      {
        ...method,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    ]),
  );

import type { Client } from '@grpc/grpc-js';
import { firstValueFrom, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VersionRequest, VersionResponse } from '../../../src/generated/runtime/v1/api.js';
import { type Connection, repliesInTurns, unary } from '../../../src/runtime/cri-calls.js';

type Answer = (error: null, bytes: Buffer) => void;

/** The methods of a call whose runtime answers at once, and what came to the connection. */
const stage = (
  reply: Buffer = Buffer.from(
    VersionResponse.encode(VersionResponse.fromPartial({ runtimeName: 'r'.repeat(1_000) })).finish(),
  ),
) => {
  const sent: string[] = [];
  const ends: (string | undefined)[] = [];
  const makeUnaryRequest = (path: string, ...rest: readonly unknown[]) => {
    sent.push(path);
    (rest.at(-1) as Answer)(null, reply);
    return { cancel: () => undefined };
  };
  const connection: Connection = {
    client: { makeUnaryRequest } as unknown as Client,
    endpoint: 'unix:///runtime.sock',
    requestTimeoutMs: 1_000,
    observe: (_operation, _durationMs, error) => ends.push(error?.code),
    inTurn: repliesInTurns(),
  };
  const decoded: number[] = [];
  const method = {
    path: '/runtime.v1.RuntimeService/Version',
    requestSerialize: (request: VersionRequest) => Buffer.from(VersionRequest.encode(request).finish()),
    responseDeserialize: (bytes: Buffer): VersionResponse => {
      decoded.push(bytes.length);
      return bytes.length > 60_000 ? VersionResponse.fromPartial({}) : VersionResponse.decode(bytes);
    },
  };
  const version = (): Observable<VersionResponse> => unary(connection, 'version', method, VersionRequest)({});
  return { version, sent, decoded, ends };
};

// A request that takes long to make is sent in a later turn: no test but those about that depends on the machine.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(0));
afterEach(() => vi.restoreAllMocks());

describe('a large reply', () => {
  it('is decoded in the turn in which it comes, and the next one in a turn of its own', async () => {
    const { version, decoded } = stage(Buffer.alloc(65_536));
    const both = Promise.all([firstValueFrom(version()), firstValueFrom(version())]);
    expect(decoded).toEqual([65_536]);
    await both;
    expect(decoded).toEqual([65_536, 65_536]);
  });

  it('is not decoded once the call is cancelled', async () => {
    const { version, decoded, ends } = stage(Buffer.alloc(65_536));
    const first = firstValueFrom(version());
    const second = version().subscribe();
    const third = firstValueFrom(version());
    second.unsubscribe();
    await Promise.all([first, third]);
    expect(decoded).toHaveLength(2);
    expect(ends).toEqual([undefined, 'cancelled', undefined]);
  });
});

it('decodes many small replies in one turn', () => {
  const { version, decoded } = stage();
  for (let index = 0; index < 50; index++) version().subscribe();
  expect(decoded).toHaveLength(50);
});

it('fails a call whose reply cannot be decoded', async () => {
  const { version, ends } = stage(Buffer.from([0xff]));
  await expect(firstValueFrom(version())).rejects.toThrow('cannot decode the reply: ');
  expect(ends).toEqual(['other']);
});

describe('a request that takes long to make', () => {
  /** Makes the first two looks at the clock differ by that time. */
  const takes = (ms: number): void => {
    // The stopwatch of the call looks first.
    vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(0).mockReturnValueOnce(ms);
  };

  it('is encoded and sent in a turn of its own', async () => {
    const { version, sent } = stage();
    takes(5.1);
    const reply = firstValueFrom(version());
    expect(sent).toEqual([]);
    await reply;
    expect(sent).toHaveLength(1);
  });

  it('is sent at once if it took no longer than 5 ms', () => {
    const { version, sent } = stage();
    takes(5);
    version().subscribe();
    expect(sent).toHaveLength(1);
  });

  it('is never sent once the call is cancelled', async () => {
    const { version, sent, ends } = stage();
    takes(6);
    version().subscribe().unsubscribe();
    takes(6);
    await firstValueFrom(version());
    expect(sent).toHaveLength(1);
    expect(ends).toEqual(['cancelled', undefined]);
  });
});

import { Server, ServerCredentials, type ServerUnaryCall, type ServerWritableStream, status } from '@grpc/grpc-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ContainerEventResponse,
  ContainerEventResponse as ContainerEventMessage,
  ImageServiceService,
  ListContainersResponse,
  type ListContainersRequest,
  PodSandbox,
  PodSandboxStatusResponse,
  type RunPodSandboxResponse,
  RuntimeServiceService,
  type StopContainerRequest,
  type StreamPodSandboxesRequest,
  type StreamPodSandboxesResponse,
  VersionResponse,
  type VersionRequest,
} from '../../src/generated/runtime/v1/api.js';
import type { CriError } from '../../src/model/cri/cri-error.js';
import { type CriClient, criClient, type CriClientOptions } from '../../src/runtime/cri-client.js';

type Handlers = Parameters<Server['addService']>[1];
type Reply<T> = (error: { code: status; details: string } | null, value?: T) => void;

let directory: string;
const cleanups: (() => void)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cri-client-'));
});
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
  rmSync(directory, { recursive: true, force: true });
});

/** A runtime that answers what `handlers` say, and `unimplemented` to everything else. */
const serve = async (handlers: Handlers, socket = 'runtime.sock', imageHandlers: Handlers = {}) => {
  const server = new Server({ 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1 });
  server.addService(RuntimeServiceService, handlers);
  server.addService(ImageServiceService, imageHandlers);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix://${join(directory, socket)}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  const stop = () => server.forceShutdown();
  cleanups.push(stop);
  return stop;
};

const connect = (options: Partial<CriClientOptions> = {}): CriClient => {
  const client = criClient({ endpoint: `unix://${join(directory, 'runtime.sock')}`, ...options });
  cleanups.push(client.close);
  return client;
};

const failureOf = (promise: Promise<unknown>): Promise<CriError> =>
  promise.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: CriError) => error,
  );

const VERSION = VersionResponse.fromPartial({
  version: '0.1.0',
  runtimeName: 'fake',
  runtimeVersion: '1',
  runtimeApiVersion: 'v1',
});
const version = (_call: ServerUnaryCall<VersionRequest, VersionResponse>, reply: Reply<VersionResponse>) =>
  reply(null, VERSION);

describe('a listing', () => {
  const sandbox = (id: string) => PodSandbox.fromPartial({ id });
  const idsOf = async (client: CriClient) =>
    (await firstValueFrom(client.runtime.listPodSandbox({}))).items.map(({ id }) => id);

  it('comes in parts where the runtime has that', async () => {
    await serve({
      streamPodSandboxes: (call: ServerWritableStream<StreamPodSandboxesRequest, StreamPodSandboxesResponse>) => {
        call.write({ podSandboxes: [sandbox('a'), sandbox(call.request.filter?.id ?? '')] });
        call.write({ podSandboxes: [sandbox('c')] });
        call.end();
      },
    });
    const { items } = await firstValueFrom(connect().runtime.listPodSandbox({ filter: { id: 'b' } }));
    expect(items.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('is asked for in one piece where it has not, and never again in parts', async () => {
    const asked: string[] = [];
    await serve({
      streamPodSandboxes: (call: ServerWritableStream<StreamPodSandboxesRequest, StreamPodSandboxesResponse>) => {
        asked.push('parts');
        call.emit('error', { code: status.UNIMPLEMENTED, details: 'unknown method' });
      },
      listPodSandbox: (_call: unknown, reply: Reply<{ items: PodSandbox[] }>) => {
        asked.push('whole');
        reply(null, { items: [sandbox('a')] });
      },
    });
    const client = connect();
    expect(await idsOf(client)).toEqual(['a']);
    expect(await idsOf(client)).toEqual(['a']);
    expect(asked).toEqual(['parts', 'whole', 'whole']);
  });

  it('that breaks off is no listing', async () => {
    await serve({
      streamPodSandboxes: (call: ServerWritableStream<StreamPodSandboxesRequest, StreamPodSandboxesResponse>) => {
        call.write({ podSandboxes: [sandbox('a')] });
        call.emit('error', { code: status.INTERNAL, details: 'lost the rest' });
      },
    });
    expect(await failureOf(idsOf(connect()))).toMatchObject({ message: 'lost the rest' });
  });
});

describe('a call', () => {
  it('is made once per subscription, with defaults for what is left out, to localhost', async () => {
    const requests: unknown[] = [];
    await serve({
      listContainers: (call: ServerUnaryCall<ListContainersRequest, unknown>, reply: Reply<ListContainersResponse>) => {
        requests.push({ host: call.getHost(), ...call.request });
        reply(null, { containers: [] });
      },
    });
    const call$ = connect().runtime.listContainers({ filter: { podSandboxId: 's' } });
    expect(requests).toEqual([]);
    expect(await lastValueFrom(call$.pipe(toArray()))).toEqual([{ containers: [] }]);
    await lastValueFrom(call$);
    const filter = { id: '', podSandboxId: 's', state: undefined, labelSelector: {} };
    expect(requests).toEqual([
      { host: 'localhost', filter },
      { host: 'localhost', filter },
    ]);
  });

  it('asks for the version of the kubelet', async () => {
    const asked: string[] = [];
    await serve({
      version: (call: ServerUnaryCall<VersionRequest, VersionResponse>, reply: Reply<VersionResponse>) => {
        asked.push(call.request.version);
        reply(null, VERSION);
      },
    });
    expect(await firstValueFrom(connect().runtime.version({}))).toEqual(VERSION);
    expect(asked).toEqual(['0.1.0']);
  });

  it.each([
    [status.UNKNOWN, 'unknown'],
    [status.INVALID_ARGUMENT, 'invalid-argument'],
    [status.NOT_FOUND, 'not-found'],
    [status.ALREADY_EXISTS, 'already-exists'],
    [status.FAILED_PRECONDITION, 'failed-precondition'],
    [status.UNIMPLEMENTED, 'unimplemented'],
    [status.CANCELLED, 'cancelled'],
    [status.INTERNAL, 'internal'],
  ] as const)('that fails with status %i fails as %s', async (grpc, code) => {
    const observed: unknown[] = [];
    await serve({ startContainer: (_: unknown, reply: Reply<object>) => reply({ code: grpc, details: 'because' }) });
    const client = connect({ observe: (operation, _ms, error) => observed.push([operation, error?.code]) });
    const error = await failureOf(firstValueFrom(client.runtime.startContainer({ containerId: 'c' })));
    expect(error).toMatchObject({ name: 'CriError', code, call: 'StartContainer', message: 'because' });
    expect(observed).toEqual([['start_container', code]]);
  });

  it('is given up at its deadline, on both sides', async () => {
    const received = vi.fn();
    const cancelled = vi.fn();
    await serve({
      status: (call: ServerUnaryCall<unknown, unknown>) => {
        received();
        call.on('cancelled', cancelled);
      },
    });
    // On a busy machine a short deadline may pass before the call has reached the server.
    for (let requestTimeoutMs = 50; received.mock.calls.length === 0; requestTimeoutMs *= 2) {
      const error = await failureOf(firstValueFrom(connect({ requestTimeoutMs }).runtime.status({})));
      expect(error).toMatchObject({ code: 'deadline-exceeded', call: 'Status' });
    }
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalled(), { timeout: 20_000 });
  });

  it('returns the URL of a stream, which must be set', async () => {
    const requests: unknown[] = [];
    const observed: string[] = [];
    const url = (call: ServerUnaryCall<unknown, { url: string }>, reply: Reply<{ url: string }>) => {
      requests.push(call.request);
      reply(null, { url: 'http://127.0.0.1:1/x' });
    };
    await serve({
      ...{ exec: url, attach: url },
      portForward: (_call: ServerUnaryCall<unknown, { url: string }>, reply: Reply<{ url: string }>) =>
        reply(null, { url: '' }),
    });
    const { streaming } = connect({ observe: (operation) => void observed.push(operation) });
    expect(await lastValueFrom(streaming.exec({ containerId: 'c', cmd: ['a', 'b'], tty: true, stdin: true }))).toEqual({
      url: 'http://127.0.0.1:1/x',
    });
    await lastValueFrom(streaming.attach({ containerId: 'c', stdout: true }));
    const failure = await failureOf(lastValueFrom(streaming.portForward({ podSandboxId: 's', port: [80] })));
    expect(failure).toMatchObject({ code: 'other', call: 'PortForward', message: 'URL is not set' });
    const off = { stdin: false, stdout: false, stderr: false, tty: false };
    expect(requests).toEqual([
      { ...off, containerId: 'c', cmd: ['a', 'b'], tty: true, stdin: true },
      { ...off, containerId: 'c', stdout: true },
    ]);
    expect(observed).toEqual(['exec', 'attach', 'port_forward']);
  });

  it('sends the deadline that its kind and its own timeout ask for', async () => {
    const deadlines: number[] = [];
    await serve({
      stopContainer: (call: ServerUnaryCall<StopContainerRequest, object>, reply: Reply<object>) => {
        deadlines.push(Number(call.getDeadline()) - Date.now());
        reply(null, {});
      },
      execSync: (call: ServerUnaryCall<unknown, object>, reply: Reply<object>) => {
        deadlines.push(Number(call.getDeadline()) - Date.now());
        reply(null, { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), exitCode: 0 });
      },
    });
    const { runtime } = connect({ requestTimeoutMs: 1_000_000 });
    await lastValueFrom(runtime.stopContainer({ containerId: 'c', timeout: 5_000n }));
    await lastValueFrom(runtime.execSync({ containerId: 'c', cmd: ['true'] }));
    expect(deadlines[0]).toBeGreaterThan(5_000_000);
    expect(deadlines[0]).toBeLessThanOrEqual(6_000_000);
    expect(deadlines[1]).toBe(Infinity);
  });

  it('is cancelled on the wire when no subscriber waits for it any more', async () => {
    const observed: unknown[] = [];
    let started = false;
    const cancelled = vi.fn();
    await serve({}, 'runtime.sock', {
      pullImage: (call: ServerUnaryCall<unknown, unknown>) => {
        started = true;
        call.on('cancelled', cancelled);
      },
    });
    const client = connect({ observe: (operation, _ms, error) => observed.push([operation, error?.code]) });
    const heard = vi.fn();
    const subscription = client.images.pullImage({ image: { image: 'i' } }).subscribe({ next: heard, error: heard });
    await vi.waitFor(() => expect(started).toBe(true), { timeout: 20_000 });
    subscription.unsubscribe();
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalled(), { timeout: 20_000 });
    expect(heard).not.toHaveBeenCalled();
    expect(observed).toEqual([['pull_image', 'cancelled']]);
  });

  it('brings 10 MiB', async () => {
    const text = 'x'.repeat(1024 * 1024);
    const containers = Array.from({ length: 10 }, (_, index) => ({ id: `${index}`, annotations: { text } }));
    await serve({
      listContainers: (_: unknown, reply: Reply<ListContainersResponse>) =>
        reply(null, ListContainersResponse.fromPartial({ containers })),
    });
    const response = await firstValueFrom(connect().runtime.listContainers({}));
    expect(response.containers.map(({ id, annotations }) => [id, annotations['text']?.length])).toEqual(
      containers.map(({ id }) => [id, text.length]),
    );
  });

  it('keeps nanoseconds exact', async () => {
    const createdAt = 1_700_000_000_123_456_789n;
    await serve({
      listContainers: (_: unknown, reply: Reply<ListContainersResponse>) =>
        reply(null, ListContainersResponse.fromPartial({ containers: [{ id: 'c', createdAt }] })),
    });
    const { containers } = await firstValueFrom(connect().runtime.listContainers({}));
    expect(containers[0]?.createdAt).toBe(createdAt);
  });

  it('fails when the answer cannot be used', async () => {
    const observed: unknown[] = [];
    await serve({
      runPodSandbox: (_: unknown, reply: Reply<RunPodSandboxResponse>) => reply(null, { podSandboxId: '' }),
      podSandboxStatus: (_: unknown, reply: Reply<PodSandboxStatusResponse>) =>
        reply(null, PodSandboxStatusResponse.fromPartial({ status: { id: 's' } })),
    });
    const { runtime } = connect({ observe: (operation, _ms, error) => observed.push([operation, error?.code]) });
    expect(await failureOf(firstValueFrom(runtime.runPodSandbox({})))).toMatchObject({
      code: 'other',
      call: 'RunPodSandbox',
      message: "the runtime's new sandbox has no pod_sandbox_id",
    });
    expect(await failureOf(firstValueFrom(runtime.podSandboxStatus({})))).toMatchObject({
      message: "the runtime's sandbox status has no metadata",
    });
    expect(observed).toEqual([
      ['run_podsandbox', 'other'],
      ['podsandbox_status', 'other'],
    ]);
  });
});

describe('a connection', () => {
  it('that cannot be made names the endpoint', async () => {
    const error = await failureOf(firstValueFrom(connect().runtime.version({})));
    expect(error).toMatchObject({ code: 'unavailable', call: 'Version' });
    expect(error.message).toContain(`unix://${join(directory, 'runtime.sock')}`);
  });

  it('comes back when the runtime does', async () => {
    const stop = await serve({ version });
    const client = connect();
    await firstValueFrom(client.runtime.version({}));
    stop();
    await vi.waitFor(
      async () => {
        const error = await failureOf(firstValueFrom(client.runtime.version({})));
        expect(error.code).toBe('unavailable');
      },
      { timeout: 20_000 },
    );
    await serve({ version });
    await vi.waitFor(async () => expect(await firstValueFrom(client.runtime.version({}))).toEqual(VERSION), {
      timeout: 20_000,
    });
  });

  it('to the image service is one of its own if asked for', async () => {
    await serve({ version });
    await serve({}, 'images.sock', {
      listImages: (_: unknown, reply: Reply<object>) => reply(null, { images: [] }),
    });
    const client = connect({ imageEndpoint: join(directory, 'images.sock') });
    expect(await firstValueFrom(client.images.listImages({}))).toEqual({ images: [] });
    expect(await failureOf(firstValueFrom(client.runtime.listContainers({})))).toMatchObject({ code: 'unimplemented' });
  });
});

describe('the stream of events', () => {
  const event = ContainerEventMessage.fromPartial({ containerId: 'c', createdAt: 7n });

  it('emits, and is cancelled on the wire without a subscriber', async () => {
    const cancelled = vi.fn();
    await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, ContainerEventResponse>) => {
        call.on('cancelled', cancelled);
        call.write(event);
        call.write({ ...event, containerId: 'd' });
      },
    });
    const events = await lastValueFrom(connect().runtime.containerEvents().pipe(take(2), toArray()));
    expect(events).toEqual([event, { ...event, containerId: 'd' }]);
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalled(), { timeout: 20_000 });
  });

  it('fails when the runtime ends it, after what it had sent', async () => {
    const observed: unknown[] = [];
    await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, ContainerEventResponse>) => {
        call.write(event);
        call.end();
      },
    });
    const heard: unknown[] = [];
    const client = connect({ observe: (operation, _ms, error) => observed.push([operation, error?.code]) });
    const error = await failureOf(
      new Promise((resolve, reject) =>
        client.runtime
          .containerEvents()
          .subscribe({ next: (one) => heard.push(one), error: reject, complete: () => resolve(1) }),
      ),
    );
    expect(heard).toEqual([event]);
    expect(error).toMatchObject({ code: 'other', call: 'GetContainerEvents' });
    expect(observed).toEqual([['get_container_events', 'other']]);
  });

  it('fails as unimplemented when the runtime does not have it', async () => {
    await serve({ version });
    const error = await failureOf(firstValueFrom(connect().runtime.containerEvents()));
    expect(error).toMatchObject({ code: 'unimplemented', call: 'GetContainerEvents' });
  });

  it('fails when the runtime dies', async () => {
    let stop = () => undefined as void;
    let isOpen = false;
    stop = await serve({
      getContainerEvents: (call: ServerWritableStream<unknown, ContainerEventResponse>) => {
        isOpen = true;
        call.sendMetadata(call.metadata);
      },
    });
    const failed = failureOf(firstValueFrom(connect().runtime.containerEvents()));
    await vi.waitFor(() => expect(isOpen).toBe(true), { timeout: 20_000 });
    stop();
    expect(await failed).toMatchObject({ name: 'CriError', call: 'GetContainerEvents' });
  });
});

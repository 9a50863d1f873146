import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server as SocketServer, type Socket } from 'node:net';
import {
  Client,
  type ClientReadableStream,
  credentials,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {
  type ContainerEventResponse,
  ImageServiceService,
  RuntimeServiceService,
} from '../../src/generated/runtime/v1/api.js';
import { asBytes, type Codec, same } from './as-bytes.js';
import { CallNames, type WhatItIsAbout } from './cri-call-names.js';

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
};

type Methods = typeof RuntimeServiceService & typeof ImageServiceService;
export type CriMethod = keyof Methods;
/** What the runtime answers to a method, decoded. */
export type AnswerTo<Method extends CriMethod> = Methods[Method] extends {
  readonly responseDeserialize: (bytes: Buffer) => infer Answer;
}
  ? Answer
  : never;

const METHODS: Readonly<Record<string, Methods[CriMethod]>> = { ...RuntimeServiceService, ...ImageServiceService };

/** One call on its way from the agent to the runtime. */
export interface ProxiedCall extends WhatItIsAbout {
  readonly method: CriMethod;
  /** Fires when the agent gives the call up, or its deadline has passed. */
  readonly givenUp: AbortSignal;
  /** Asks the runtime; what the agent gives up is given up there as well, unless the call is to outlive it. */
  readonly forward: (options?: { readonly outlives?: boolean }) => Promise<Buffer>;
}

/** What becomes of a call: its answer, as bytes. Errors: the answer is an error, a `Failure` with its code. */
export type Act = (call: ProxiedCall) => Promise<Buffer>;

/** What a call is answered with instead of an answer. */
export class Failure extends Error {
  constructor(
    readonly code: status,
    message: string,
  ) {
    super(message);
  }
}

/** Which calls a rule is about; what is left out does not matter. */
export interface Which {
  readonly methods: CriMethod | readonly CriMethod[];
  /** The name of the pod, without the node's. */
  readonly pod?: string | RegExp;
  readonly container?: string;
  /** Only calls that are about no pod in particular, such as listings of everything. */
  readonly ofAll?: true;
  /** The rule is spent after this number of calls. */
  readonly times?: number;
}

export interface Rule {
  /** Calls that it was applied to so far. */
  readonly hits: () => number;
  readonly remove: () => void;
}

const REFUSED = { code: status.UNAVAILABLE, details: 'the test refuses the stream of events' };

interface KeptRule extends Which {
  readonly act: Act;
  count: number;
}

type EventChange = (event: ContainerEventResponse) => readonly ContainerEventResponse[];

/**
 * Stands between an agent and a runtime on a unix socket of its own and passes everything on as bytes, except where a rule
 * says otherwise. Rules may come and go at any time; the newest that fits decides. The pod of a call is learnt from what
 * passes by.
 */
export class CriProxy {
  /** Every call, as `method pod/container`, in order. */
  readonly asked: string[] = [];
  private readonly names = new CallNames();
  private readonly rules = new Set<KeptRule>();
  private readonly connections = new Set<Socket>();
  private readonly streams = new Set<ServerWritableStream<Buffer, Buffer>>();
  private changeEvent: EventChange = (event) => [event];
  private tellsOwnEvents = false;
  private refusesEvents = false;
  private front: SocketServer | undefined;

  private constructor(
    readonly socket: string,
    private readonly client: Client,
    private readonly server: Server,
  ) {}

  static async start(runtimeSocket: string, socket: string): Promise<CriProxy> {
    const inner = `${socket}.inner`;
    const client = new Client(`unix://${runtimeSocket}`, credentials.createInsecure(), {
      ...OPTIONS,
      'grpc.default_authority': 'localhost',
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 500,
    });
    const server = new Server(OPTIONS);
    const proxy = new CriProxy(socket, client, server);
    for (const service of [RuntimeServiceService, ImageServiceService]) {
      const definition = asBytes(service);
      server.addService(definition, proxy.handlers(definition));
    }
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${inner}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    await proxy.listen(inner);
    return proxy;
  }

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  /** From now on, calls that fit are treated so. */
  rule(which: Which, act: Act): Rule {
    const rule: KeptRule = { ...which, act, count: 0 };
    this.rules.add(rule);
    return { hits: () => rule.count, remove: () => void this.rules.delete(rule) };
  }

  /** Calls that fit wait, before they reach the runtime, until they are released. */
  hold(which: Which): Rule & { readonly release: () => void } {
    const gate = newGate();
    const rule = this.rule(which, async ({ forward, givenUp }) => {
      await gate.passed(givenUp);
      return forward();
    });
    const release = (): void => {
      rule.remove();
      gate.open();
    };
    return { ...rule, release };
  }

  /** Calls that fit succeed in the runtime, and their answers wait until they are released, or until no call waits any more. */
  holdAnswer(which: Which): Rule & { readonly release: () => void } {
    const gate = newGate();
    const rule = this.rule(which, async ({ forward, givenUp }) => {
      const answer = await forward({ outlives: true });
      await gate.passed(givenUp);
      return answer;
    });
    const release = (): void => {
      rule.remove();
      gate.open();
    };
    return { ...rule, release };
  }

  /** Calls that fit reach the runtime when they are released, even if the agent has given them up long before; `outcomes` are theirs. */
  delay(which: Which): Rule & { readonly release: () => void; readonly outcomes: readonly string[] } {
    const gate = newGate();
    const outcomes: string[] = [];
    const rule = this.rule(which, async ({ forward }) => {
      await gate.passed();
      try {
        const answer = await forward({ outlives: true });
        outcomes.push('ok');
        return answer;
      } catch (error) {
        outcomes.push(String(error));
        throw error;
      }
    });
    const release = (): void => {
      rule.remove();
      gate.open();
    };
    return { ...rule, release, outcomes };
  }

  /** Calls that fit fail without reaching the runtime. */
  fail(which: Which, code: status, message: string): Rule {
    return this.rule(which, () => Promise.reject(new Failure(code, message)));
  }

  /** Calls that fit are answered with what `change` makes of the runtime's answer. */
  answer<Method extends CriMethod>(
    which: Which & { readonly methods: Method },
    change: (answer: AnswerTo<Method>) => AnswerTo<Method>,
  ): Rule {
    const { responseDeserialize, responseSerialize } = METHODS[which.methods] as unknown as Codec<AnswerTo<Method>>;
    return this.rule(which, async ({ forward }) => responseSerialize(change(responseDeserialize(await forward()))));
  }

  /** Answers of calls that fit lose their second half. */
  truncate(which: Which): Rule {
    return this.rule(which, async ({ forward }) => {
      const bytes = await forward();
      return bytes.subarray(0, Math.ceil(bytes.length / 2));
    });
  }

  /** What becomes of every event of the runtime's stream: none, one or several. */
  onEvent(change: EventChange): void {
    this.changeEvent = change;
  }

  /** Whether the stream of events is the test's own from now on; the runtime may have none. */
  takeOverEvents(own: boolean): void {
    this.tellsOwnEvents = own;
    this.cut();
  }

  /** Whether the stream of events is refused from now on; one that is open is ended. */
  refuseEvents(refused: boolean): void {
    this.refusesEvents = refused;
    if (refused) for (const stream of this.streams) stream.emit('error', REFUSED);
  }

  /** Sends the event to every agent that listens. */
  tell(event: ContainerEventResponse): void {
    const bytes = RuntimeServiceService.getContainerEvents.responseSerialize(event);
    for (const stream of this.streams) stream.write(bytes);
  }

  get listeners(): number {
    return this.streams.size;
  }

  /** Cuts every connection, in the middle of all calls under way. */
  cut(): void {
    for (const connection of this.connections) connection.destroy();
  }

  async close(): Promise<void> {
    const { front } = this;
    const closed = front && once(front, 'close');
    front?.close();
    // No agent connects again any more.
    this.cut();
    await closed;
    this.server.forceShutdown();
    this.client.close();
    for (const path of [this.socket, `${this.socket}.inner`]) rmSync(path, { force: true });
  }

  /** The connection is taken here, as the server itself cannot cut one. */
  private async listen(inner: string): Promise<void> {
    const front = createServer((from) => {
      const to = connect(inner);
      this.connections.add(from);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
      from.on('close', () => this.connections.delete(from));
    });
    front.listen(this.socket);
    await once(front, 'listening');
    this.front = front;
  }

  private handlers(definition: ServiceDefinition): UntypedServiceImplementation {
    const entries = Object.entries(definition).map(([name, { responseStream }]) => {
      const method = name as CriMethod;
      if (responseStream) return [name, (call: ServerWritableStream<Buffer, Buffer>) => this.stream(method, call)];
      const unary = (
        call: ServerUnaryCall<Buffer, Buffer>,
        answer: (error: object | null, bytes?: Buffer) => void,
      ): void => {
        const givenUp = new AbortController();
        call.on('cancelled', () => givenUp.abort());
        this.unary(method, call.request, givenUp.signal).then(
          (bytes) => answer(null, bytes),
          (error: { readonly code?: status; readonly details?: string; readonly message: string }) =>
            answer({ code: error.code ?? status.UNKNOWN, details: error.details ?? error.message }),
        );
      };
      return [name, unary];
    });
    return Object.fromEntries(entries) as UntypedServiceImplementation;
  }

  private async unary(method: CriMethod, request: Buffer, givenUp: AbortSignal): Promise<Buffer> {
    const { path, requestDeserialize, responseDeserialize } = METHODS[method] as unknown as Codec<object>;
    const decoded = requestDeserialize(request);
    const about = this.names.of(decoded);
    this.asked.push(`${method} ${about.pod ?? ''}/${about.container ?? ''}`);
    const forward = async ({ outlives = false } = {}): Promise<Buffer> => {
      const bytes = await this.ask(path, request, outlives ? undefined : givenUp);
      this.names.learn(method, decoded, responseDeserialize(bytes));
      return bytes;
    };
    const rule = [...this.rules].findLast((candidate) => fits(candidate, method, about));
    if (!rule) return forward();
    rule.count += 1;
    if (rule.count === rule.times) this.rules.delete(rule);
    return rule.act({ ...about, method, givenUp, forward });
  }

  private ask(path: string, request: Buffer, givenUp: AbortSignal | undefined): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const call = this.client.makeUnaryRequest(path, same, same, request, (error, bytes) => {
        givenUp?.removeEventListener('abort', cancel);
        if (error) reject(error);
        else resolve(bytes ?? Buffer.alloc(0));
      });
      const cancel = (): void => call.cancel();
      givenUp?.addEventListener('abort', cancel);
      if (givenUp?.aborted) cancel();
    });
  }

  private stream(method: CriMethod, call: ServerWritableStream<Buffer, Buffer>): void {
    const isOfEvents = method === 'getContainerEvents';
    if (isOfEvents && this.refusesEvents) {
      call.emit('error', REFUSED);
      return;
    }
    if (isOfEvents) this.streams.add(call);
    // Without a first answer the agent's side would not know that the stream is open.
    call.sendMetadata(call.metadata.clone());
    const upstream = isOfEvents && this.tellsOwnEvents ? undefined : this.relay(method, call);
    call.on('error', () => upstream?.cancel());
    call.on('cancelled', () => {
      this.streams.delete(call);
      upstream?.cancel();
    });
  }

  private relay(method: CriMethod, call: ServerWritableStream<Buffer, Buffer>): ClientReadableStream<Buffer> {
    const { path } = METHODS[method] as unknown as Codec<object>;
    const { responseDeserialize, responseSerialize } = RuntimeServiceService.getContainerEvents;
    const upstream = this.client.makeServerStreamRequest(path, same, same, call.request);
    upstream.on('data', (bytes: Buffer) => {
      if (method !== 'getContainerEvents') return void call.write(bytes);
      for (const event of this.changeEvent(responseDeserialize(bytes))) call.write(responseSerialize(event));
    });
    upstream.on('error', (error: { readonly code: status; readonly details: string }) => {
      this.streams.delete(call);
      call.emit('error', { code: error.code, details: error.details });
    });
    upstream.on('end', () => {
      this.streams.delete(call);
      call.end();
    });
    return upstream;
  }
}

const fits = ({ methods, pod, container, ofAll }: Which, method: CriMethod, about: WhatItIsAbout): boolean => {
  if (!(typeof methods === 'string' ? [methods] : methods).includes(method)) return false;
  if (ofAll && (about.isSelective || about.pod !== undefined)) return false;
  if (container !== undefined && container !== about.container) return false;
  if (pod === undefined) return true;
  return about.pod !== undefined && (typeof pod === 'string' ? about.pod === pod : pod.test(about.pod));
};

/** Each call waits until it is opened. */
const newGate = () => {
  const waiting = new Set<() => void>();
  let isOpen = false;
  return {
    open: (): void => {
      isOpen = true;
      for (const pass of waiting) pass();
    },
    passed: (givenUp?: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        if (isOpen) return resolve();
        waiting.add(resolve);
        givenUp?.addEventListener('abort', () => {
          waiting.delete(resolve);
          reject(new Failure(status.CANCELLED, 'the agent cancelled the call'));
        });
      }),
  };
};

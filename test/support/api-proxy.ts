import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';

/** PEM. */
interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface ApiProxyOptions {
  /** `https://host:port` of the API server. */
  readonly server: string;
  /** Who has signed both. */
  readonly ca: string;
  /** What the proxy shows to the agent. */
  readonly front: Identity;
  /** The user of its requests to the API server. */
  readonly back: Identity;
}

/** One request on its way from the agent to the API server. */
export interface ProxiedRequest {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  /** `pods`, `pods/status`, `leases` and so on. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What becomes of a request instead of what should. */
export type Fault =
  /** The proxy answers itself; the server is not asked. */
  | { readonly kind: 'refused'; readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** The connection breaks before the server was asked, or after it has done what it was asked for. */
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** Takes longer by this time. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Nothing passes any more, no request and no line of a watch; after this time the connection breaks. */
  | { readonly kind: 'stalled'; readonly ms: number }
  /** A watch breaks in the middle of a line, or between two, after this number of lines. */
  | { readonly kind: 'cut'; readonly afterLines: number; readonly inLine: boolean }
  /** A watch receives an error that what it asked for is too old, after this number of lines. */
  | { readonly kind: 'expired'; readonly afterLines: number }
  /**
   * In a watch, lines of two different objects change places. Nothing is left out: a line waits this number of milliseconds at most for
   * one of another object.
   */
  | { readonly kind: 'reordered'; readonly waitMs?: number };

const REORDER_MS = 200;

/**
 * Stands between an agent and an API server, as HTTPS on a loopback port of its own. It passes everything on, except where `decide`
 * wants a fault; that may be replaced at any time and is asked once for each request, for a watch when it begins.
 */
export class ApiProxy {
  decide: (request: ProxiedRequest) => Fault | undefined = () => undefined;
  /** Replaces the JSON of an answer that is no watch; undefined leaves it as it is. Asked once for each answer that is no error. */
  alter: (request: ProxiedRequest) => ((answer: unknown) => unknown) | undefined = () => undefined;
  /** Faults so far that have had an effect, by kind. */
  readonly done = new Map<string, number>();
  private readonly sockets = new Set<Socket>();
  private readonly agent: Agent;
  private readonly proxy: Server;

  private constructor(private readonly options: ApiProxyOptions) {
    const { ca, front, back } = options;
    this.agent = new Agent({ ca, ...back, keepAlive: true });
    this.proxy = createServer({ ...front, ca, requestCert: true, rejectUnauthorized: true }, (asked, reply) => {
      this.serve(asked, reply).catch(() => reply.destroy());
    });
    this.proxy.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    });
    // A connection that the agent has left in the middle of its handshake.
    this.proxy.on('tlsClientError', () => undefined);
  }

  static async start(options: ApiProxyOptions): Promise<ApiProxy> {
    const self = new ApiProxy(options);
    self.proxy.listen(0, '127.0.0.1');
    await once(self.proxy, 'listening');
    return self;
  }

  /** Where the agent finds it. */
  get address(): string {
    return `https://127.0.0.1:${(this.proxy.address() as AddressInfo).port}`;
  }

  /** Breaks every connection that there is. */
  resetAll(): void {
    this.count('reset-all');
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    const closed = once(this.proxy, 'close');
    this.proxy.close();
    for (const socket of this.sockets) socket.destroy();
    this.agent.destroy();
    await closed;
  }

  /** Below TLS, so that the other side sees a broken connection and no orderly end. */
  private reset({ socket: { remotePort } }: IncomingMessage): void {
    for (const socket of this.sockets) if (socket.remotePort === remotePort) socket.resetAndDestroy();
  }

  private count(kind: string): void {
    this.done.set(kind, (this.done.get(kind) ?? 0) + 1);
  }

  private async serve(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const about = requestOf(asked);
    const fault = this.decide(about);
    if (fault) this.count(fault.kind);
    asked.on('error', () => undefined);
    reply.on('error', () => undefined);
    const reset = (): void => this.reset(asked);
    switch (fault?.kind) {
      case 'refused': {
        asked.resume();
        const { code, reason, retryAfterSeconds } = fault;
        reply.writeHead(code, {
          'content-type': 'application/json',
          ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
        });
        reply.end(JSON.stringify(statusOf(code, reason)));
        return;
      }
      case 'reset':
        if (fault.when === 'before') return reset();
        break;
      case 'slow':
        await after(fault.ms);
        break;
      case 'stalled':
        if (about.verb === 'watch') break;
        asked.resume();
        await after(fault.ms);
        return reset();
      default:
    }
    const answer = await this.ask(asked, reply);
    if (fault?.kind === 'reset') {
      for await (const part of answer) void part;
      return reset();
    }
    const alter = (answer.statusCode ?? 502) < 300 && about.verb !== 'watch' ? this.alter(about) : undefined;
    if (alter) {
      const altered = JSON.stringify(alter(JSON.parse(await text(answer))));
      const headers = { ...answer.headers };
      delete headers['content-length'];
      reply.writeHead(answer.statusCode ?? 502, headers);
      reply.end(altered);
      return;
    }
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    // An end of the connection to the server is one of that to the agent.
    answer.on('error', reset);
    if (about.verb !== 'watch' || answer.statusCode !== 200) answer.pipe(reply);
    else new ProxiedWatch(answer, reply, reset).pass(fault);
  }

  private async ask(asked: IncomingMessage, reply: ServerResponse): Promise<IncomingMessage> {
    const { server } = this.options;
    const headers = { ...asked.headers };
    for (const ownHere of ['host', 'connection']) delete headers[ownHere];
    const forwarded = request(new URL(asked.url ?? '/', server), { method: asked.method, headers, agent: this.agent });
    // What the agent gives up is given up.
    reply.on('close', () => forwarded.destroy());
    asked.pipe(forwarded);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    forwarded.on('error', () => undefined);
    return answer;
  }
}

/** The lines that a server sends for a watch. */
class ProxiedWatch {
  private passed = 0;
  private held: { readonly line: string; readonly uid: string; readonly timer: NodeJS.Timeout } | undefined;
  private isOver = false;

  constructor(
    private readonly answer: IncomingMessage,
    private readonly reply: ServerResponse,
    private readonly reset: () => void,
  ) {}

  pass(fault: Fault | undefined): void {
    // The agent is to learn at once that its watch has begun.
    this.reply.flushHeaders();
    const decoder = new StringDecoder('utf8');
    let rest = '';
    this.answer.on('data', (part: Buffer) => {
      const lines = (rest + decoder.write(part)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (!this.isOver) this.onLine(`${line}\n`, fault);
    });
    this.answer.on('end', () => {
      this.release();
      if (!this.isOver) this.reply.end();
    });
    if (fault?.kind === 'stalled') void after(fault.ms).then(() => this.break());
    if (fault?.kind === 'expired' && fault.afterLines === 0) this.expire();
  }

  private onLine(line: string, fault: Fault | undefined): void {
    if (fault?.kind === 'stalled') return;
    if (fault?.kind === 'reordered') return this.reorder(line, fault.waitMs);
    if (fault?.kind === 'cut' && this.passed >= fault.afterLines) {
      if (!fault.inLine) return this.break();
      this.isOver = true;
      // What was written is sent before the connection breaks.
      this.reply.write(line.slice(0, line.length / 2), () => this.reset());
      return;
    }
    this.write(line);
    if (fault?.kind === 'expired' && this.passed >= fault.afterLines) this.expire();
  }

  private write(line: string): void {
    this.passed += 1;
    this.reply.write(line);
  }

  private break(): void {
    this.isOver = true;
    this.reset();
  }

  private expire(): void {
    this.isOver = true;
    this.reply.end(`${JSON.stringify({ type: 'ERROR', object: statusOf(410, 'Expired') })}\n`);
    this.answer.destroy();
  }

  private reorder(line: string, waitMs = REORDER_MS): void {
    const { type, object } = JSON.parse(line) as {
      readonly type: string;
      readonly object?: { readonly metadata?: { readonly uid?: string } };
    };
    const uid = object?.metadata?.uid ?? '';
    const isOfObject = type !== 'BOOKMARK' && type !== 'ERROR' && uid !== '';
    if (this.held && isOfObject && this.held.uid !== uid) {
      const { line: earlier, timer } = this.held;
      clearTimeout(timer);
      this.held = undefined;
      // As one: a connection that broke in between would lose the earlier one for good.
      return this.write(line + earlier);
    }
    this.release();
    if (!isOfObject) return this.write(line);
    this.held = { line, uid, timer: setTimeout(() => this.release(), waitMs) };
  }

  private release(): void {
    if (!this.held) return;
    clearTimeout(this.held.timer);
    this.write(this.held.line);
    this.held = undefined;
  }
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const statusOf = (code: number, reason: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: `the test says ${reason}`,
  reason,
  code,
});

const VERBS = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** Source: staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go */
const requestOf = ({ method = 'GET', url = '/' }: IncomingMessage): ProxiedRequest => {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const parts = pathname.split('/').filter(Boolean);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined;
  const [resource = '', name, subresource] = namespace === undefined ? rest : rest.slice(2);
  const verb = VERBS[method as keyof typeof VERBS] ?? 'get';
  const isWatch = ['true', '1'].includes(searchParams.get('watch') ?? '');
  return {
    verb: verb !== 'get' ? verb : isWatch ? 'watch' : name === undefined ? 'list' : 'get',
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
};

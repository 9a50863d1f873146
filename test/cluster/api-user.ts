import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiList, ApiObject } from '../../src/model/kube-api/api-object.js';

/** The credentials of a user at the API server, as PEM. */
export interface Credentials {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  /** Sent as a bearer token. */
  readonly token?: string;
}

/** A reply of the API server that refuses a request. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** The codes of a server that is overloaded or not ready, or whose etcd replies too late. */
const BUSY: readonly number[] = [500, 429, 503, 504];
const ATTEMPTS = 6;
/** The wait before an attempt is longer by this much than the one before it. */
const BACK_OFF_STEP_MS = 200;

export type PatchKind = 'merge' | 'strategic-merge' | 'json';

/** One event of a watch. */
export interface WatchEvent<Item extends ApiObject = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Item;
}

export interface Watched<Item extends ApiObject = ApiObject> {
  /** All events so far, in order. */
  readonly events: readonly WatchEvent<Item>[];
  readonly close: () => void;
}

/**
 * Sends requests to the API server as one user, in plain JSON. It shares no code with the client of the agent, and so none of its
 * mistakes.
 *
 * Errors: a `Refusal` by the server; the error of a connection that breaks.
 */
export class ApiUser {
  private readonly agent: Agent;

  constructor(
    private readonly address: string,
    private readonly credentials: Credentials,
    /** Whether it repeats a request a few times while the server is busy. */
    private readonly isPatient = false,
  ) {
    const { ca, cert, key } = credentials;
    this.agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 8 });
  }

  get<Item extends ApiObject>(path: string): Promise<Item> {
    return this.ask('GET', path) as Promise<Item>;
  }

  /** Resolves with the object; with undefined if it does not exist. */
  async find<Item extends ApiObject>(path: string): Promise<Item | undefined> {
    try {
      return await this.get<Item>(path);
    } catch (error) {
      if (error instanceof Refusal && error.code === 404) return undefined;
      throw error;
    }
  }

  async list<Item extends ApiObject>(path: string): Promise<readonly Item[]> {
    return ((await this.ask('GET', path)) as ApiList<Item>).items ?? [];
  }

  create<Item extends ApiObject>(path: string, object: object): Promise<Item> {
    return this.ask('POST', path, object) as Promise<Item>;
  }

  replace<Item extends ApiObject>(path: string, object: object): Promise<Item> {
    return this.ask('PUT', path, object) as Promise<Item>;
  }

  patch<Item extends ApiObject>(path: string, patch: object, kind: PatchKind = 'strategic-merge'): Promise<Item> {
    return this.ask('PATCH', path, patch, `application/${kind}-patch+json`) as Promise<Item>;
  }

  /** Deletes an object, by default with its own grace period. */
  async remove(path: string, gracePeriodSeconds?: number): Promise<void> {
    await this.ask('DELETE', path, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
  }

  /** Watches the objects of a list: the existing ones, and all changes from now on. Resolves when the server has accepted the watch. */
  async watch<Item extends ApiObject>(path: string): Promise<Watched<Item>> {
    const events: WatchEvent<Item>[] = [];
    const reply = await this.send('GET', `${path}${path.includes('?') ? '&' : '?'}watch=true`);
    if (reply.statusCode !== 200) throw await refusal('GET', path, reply);
    let rest = '';
    reply.setEncoding('utf8');
    reply.on('data', (part: string) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) events.push(JSON.parse(line) as WatchEvent<Item>);
    });
    // The test fails for the events that are missing.
    reply.on('error', () => undefined);
    return { events, close: () => reply.destroy() };
  }

  close(): void {
    this.agent.destroy();
  }

  async ask(method: string, path: string, body?: object, contentType = 'application/json'): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      const reply = await this.send(method, path, body, contentType);
      if ((reply.statusCode ?? 0) < 300) {
        const text = await textOf(reply);
        return text.startsWith('{') ? JSON.parse(text) : text;
      }
      const problem = await refusal(method, path, reply);
      if (attempt > 1) {
        // The server has carried out the earlier request.
        const name = (body as { readonly metadata?: { readonly name?: string } } | undefined)?.metadata?.name;
        if (method === 'POST' && problem.reason === 'AlreadyExists' && name) return this.ask('GET', `${path}/${name}`);
        if (method === 'DELETE' && problem.code === 404) return '';
      }
      if (!this.isPatient || !BUSY.includes(problem.code) || attempt === ATTEMPTS) throw problem;
      await pause(BACK_OFF_STEP_MS * attempt);
    }
  }

  private async send(method: string, path: string, body?: object, contentType?: string): Promise<IncomingMessage> {
    const { token } = this.credentials;
    const content = body && Buffer.from(JSON.stringify(body));
    const asked = request(new URL(path, this.address), {
      method,
      agent: this.agent,
      headers: {
        accept: 'application/json',
        // Node.js adds the length of a body, except for DELETE.
        ...(content && { 'content-type': contentType, 'content-length': content.length }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    asked.end(content);
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    // A connection that breaks later must not end the test's process.
    asked.on('error', () => undefined);
    return reply;
  }
}

const textOf = async (reply: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const part of reply.setEncoding('utf8')) text += part as string;
  return text;
};

const refusal = async (method: string, path: string, reply: IncomingMessage): Promise<Refusal> => {
  const text = await textOf(reply);
  const { reason = '', message = text } = text.startsWith('{')
    ? (JSON.parse(text) as { readonly reason?: string; readonly message?: string })
    : {};
  return new Refusal(reply.statusCode ?? 0, reason, `${method} ${path}: ${message}`);
};

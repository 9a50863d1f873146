import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { ApiList, ApiObject } from '../../src/model/kube-api/api-object.js';

/** What somebody is known by to the API server: PEM. */
export interface Credentials {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  /** Sent as a bearer token. */
  readonly token?: string;
}

/** The API server said no. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** What a server says whose data answer too late, that has too much to do, or that is not ready. */
const BUSY: readonly number[] = [500, 429, 503, 504];
const ATTEMPTS = 6;

export type PatchKind = 'merge' | 'strategic-merge' | 'json';

/** One thing that has happened to an object, as a watch tells it. */
export interface WatchEvent<Item extends ApiObject = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Item;
}

export interface Watched<Item extends ApiObject = ApiObject> {
  /** Everything so far, in order. */
  readonly events: readonly WatchEvent<Item>[];
  readonly close: () => void;
}

/**
 * Asks the API server as somebody, in plain JSON. It has nothing in common with the client of the agent, so that it does not share
 * its mistakes.
 *
 * Errors: a `Refusal` when the server says no, those of the connection when it says nothing.
 */
export class ApiUser {
  private readonly agent: Agent;

  constructor(
    private readonly address: string,
    private readonly credentials: Credentials,
    /** Whether it asks again a few times when the server is too busy to answer. */
    private readonly isPatient = false,
  ) {
    const { ca, cert, key } = credentials;
    this.agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 8 });
  }

  get<Item extends ApiObject>(path: string): Promise<Item> {
    return this.ask('GET', path) as Promise<Item>;
  }

  /** The object, or undefined when there is none. */
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

  /** Deletes; without a grace period the object's own one applies. */
  async remove(path: string, gracePeriodSeconds?: number): Promise<void> {
    await this.ask('DELETE', path, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
  }

  /** What happens to the objects of a list from now on, and what is there already. Resolves when the server has begun to tell. */
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
    // Whoever looks at the events finds that some are missing.
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
        // The earlier request was done nevertheless.
        const name = (body as { readonly metadata?: { readonly name?: string } } | undefined)?.metadata?.name;
        if (method === 'POST' && problem.reason === 'AlreadyExists' && name) return this.ask('GET', `${path}/${name}`);
        if (method === 'DELETE' && problem.code === 404) return '';
      }
      if (!this.isPatient || !BUSY.includes(problem.code) || attempt === ATTEMPTS) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 200 * attempt));
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
        // Node.js says how long a body is by itself, but not with DELETE.
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

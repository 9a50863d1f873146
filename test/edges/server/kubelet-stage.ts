import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, type AgentOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { NEVER, of, type Subscription, throwError } from 'rxjs';
import { pemSource } from '../../../src/kube-api/pem-source.js';
import type { AccessQuestion } from '../../../src/model/server/access-review.js';
import type { TokenVerdict } from '../../../src/model/server/authenticate.js';
import { tlsSettings } from '../../../src/model/server/tls-settings.js';
import { kubeletServer, type KubeletServerOptions } from '../../../src/server/kubelet-server.js';
import { noStreaming } from '../../../src/streams/ports/streaming-service.js';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { Authority } from '../kube-api/authority.js';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked extends AgentOptions {
  readonly path: string;
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

const userNamed = (name: string): TokenVerdict => ({ user: { name, uid: '', groups: [], extra: {} } });

/** By token: `admin` may do all, `scraper` may read metrics, `fine` pods alone, `guest` nothing. */
const TOKENS: Readonly<Record<string, TokenVerdict>> = {
  admin: userNamed('admin'),
  scraper: userNamed('scraper'),
  fine: userNamed('fine'),
  guest: userNamed('guest'),
};
const ACCESS: Readonly<Record<string, readonly string[]>> = { scraper: ['metrics'], fine: ['pods'] };

/** A kubelet API over TLS with authorities, files and users of its own. Clients are authorized by name. */
export class KubeletStage {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubelet-server-'));
  readonly authority = new Authority(this.subfolder('ca'));
  readonly questions: AccessQuestion[] = [];
  readonly warnings: string[] = [];
  readonly meters = createMetrics({ nodeName: 'n1', version: '0.1.0' });
  readonly files = {
    cert: join(this.folder, 'serving.crt'),
    key: join(this.folder, 'serving.key'),
    clientCa: join(this.folder, 'clients.crt'),
  };
  private running: Subscription | undefined;
  url = new URL('https://127.0.0.1');

  subfolder(name: string): string {
    return mkdtempSync(join(this.folder, name));
  }

  /** Writes the serving certificate, and the authority of clients. */
  furnish(authority = this.authority): void {
    const { cert, key } = this.authority.pair('/CN=server', undefined, 'server');
    writeFileSync(this.files.cert, cert);
    writeFileSync(this.files.key, key);
    writeFileSync(this.files.clientCa, authority.ca);
  }

  async start(
    over: Partial<KubeletServerOptions> = {},
    rules: Partial<KubeletServerOptions['guard']> = {},
  ): Promise<void> {
    const { cert, key, clientCa } = this.files;
    const { registry, probeRegistry, countRequests } = this.meters;
    const options: KubeletServerOptions = {
      address: '127.0.0.1',
      port: 0,
      pems: async () => ({
        cert: pemSource({ file: cert }),
        key: pemSource({ file: key }),
        clientCa: pemSource({ file: clientCa }),
      }),
      tls: tlsSettings('', []),
      guard: {
        nodeName: 'n1',
        rules: { reviewsTokens: true, allowsAnonymous: false },
        authenticateToken: (token) =>
          token === 'broken' ? throwError(() => new Error('no answer')) : of(TOKENS[token] ?? {}),
        authorizeAccess: (question) => {
          this.questions.push(question);
          const { user, subresource } = question;
          if (user.name === 'unlucky') return throwError(() => new Error('no answer'));
          return of(user.name === 'admin' || (ACCESS[user.name] ?? []).includes(subresource));
        },
        now: () => Date.now(),
        log: { warn: (fields, message) => void this.warnings.push(`${message}: ${JSON.stringify(fields)}`) },
        ...rules,
      },
      switches: {
        enableDebuggingHandlers: true,
        enableSystemLogHandler: true,
        enableProfilingHandler: true,
        enableDebugFlagsHandler: true,
      },
      healthChecks: { syncloop: () => undefined },
      pods: () => [],
      runningPods: () => [{ metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec: { containers: [] }, status: {} }],
      streams: { findRunning: () => undefined, podChange$: NEVER, streaming: noStreaming },
      configz: () => ({ kind: 'KubeletConfiguration' }),
      metrics: registry,
      probeMetrics: probeRegistry,
      countRequests,
      ...over,
    };
    this.url = new URL(
      await new Promise<string>((resolve, reject) => {
        this.running = kubeletServer(options).subscribe((event) =>
          event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem)),
        );
      }),
    );
  }

  stop(): void {
    this.running?.unsubscribe();
  }

  dispose(): void {
    this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Sends one request, on a connection of its own unless an agent is given. Errors: those of the connection. */
  ask({ path, method = 'GET', token, headers, agent, ...tls }: Asked): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          ...{ host: this.url.hostname, port: this.url.port, ca: this.authority.ca, servername: '' },
          ...{ agent: agent ?? false, method, path, ...tls },
          headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        },
        (response) => {
          text(response).then(
            (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
            reject,
          );
        },
      );
      sent.on('error', reject).end();
    });
  }
}

/** The number of sockets that this process has open. */
export const openSockets = (): number =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith('socket:');
    } catch {
      // The descriptor of this listing.
      return false;
    }
  }).length;

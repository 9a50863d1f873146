import { NEVER, of, type Observable } from 'rxjs';
import { expect } from 'vitest';
import type { DeepPartial, ExecRequest, ExecResponse } from '../../../src/generated/runtime/v1/api.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { StreamView } from '../../../src/server/streaming/answer-streams.js';
import type { KubeletServerOptions } from '../../../src/server/kubelet-server.js';
import { noStreaming, type StreamingService } from '../../../src/streams/ports/streaming-service.js';
import { eventually } from '../../embedded/eventually.js';
import { KubeletStage, openSockets } from './kubelet-stage.js';
import { header, StreamClient, UPGRADE } from './stream-client.js';
import { ACCEPTED, StreamingPeer } from './streaming-peer.js';

export const EXEC = '/exec/d/p/c?output=1&command=sh';
export const running = {
  ...{ name: 'p', namespace: 'd', uid: 'u', ips: [], sandboxes: [{ id: 's1', state: 'SANDBOX_READY' }] },
  containers: [{ id: 'c1', name: 'c', state: 'running' }],
} as unknown as RuntimePodStatus;
const pods = () => [{ metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec: { containers: [{ name: 'c' }] } }];

/** A kubelet API with one pod, a streaming server in place of that of a runtime, and clients. */
export class StreamStage extends KubeletStage {
  readonly calls: DeepPartial<ExecRequest>[] = [];
  private readonly before = openSockets();
  private readonly clients: StreamClient[] = [];

  private constructor(public peer: StreamingPeer) {
    super();
    this.furnish();
  }

  static async make(): Promise<StreamStage> {
    return new StreamStage(await StreamingPeer.start());
  }

  urlOf(scheme = 'http'): string {
    return `${scheme}://127.0.0.1:${this.peer.port}/exec/t0ken?x=1`;
  }

  /** A runtime that replies with the URL of the peer unless it has another reply. */
  streaming(exec = (): Observable<ExecResponse> => of({ url: this.urlOf() })): StreamingService {
    return {
      ...noStreaming,
      exec: (request) => {
        this.calls.push(request);
        return exec();
      },
    };
  }

  begin(
    over: Partial<Omit<StreamView, 'pods'>> = {},
    guard: Partial<KubeletServerOptions['guard']> = {},
    options: Partial<KubeletServerOptions> = {},
  ): Promise<void> {
    const streams = { findRunning: () => running, podChange$: NEVER, streaming: this.streaming(), ...over };
    return this.start({ pods, streams, ...options }, guard);
  }

  async connect({ allowHalfOpen = false } = {}): Promise<StreamClient> {
    const client = await StreamClient.connect(this, allowHalfOpen);
    this.clients.push(client);
    return client;
  }

  /** A client whose stream has begun. */
  async open(path = EXEC): Promise<StreamClient> {
    const client = await this.connect();
    client.socket.write(header('POST', path));
    expect(await client.readUntil('\r\n\r\n')).toBe(ACCEPTED);
    return client;
  }

  /** The headers that the streaming server has received first, after the line with its URL and the name of this node. */
  firstHeaders(): readonly string[] {
    const [requestLine, host, ...others] = (this.peer.headers[0] ?? '').split('\r\n');
    expect([requestLine, host]).toEqual(['POST /exec/t0ken?x=1 HTTP/1.1', 'Host: node:10250']);
    return others;
  }

  /** The reply to a request for a stream that does not begin. */
  async refusalOf(method = 'POST', path = EXEC, lines = UPGRADE): Promise<string> {
    const client = await this.connect();
    client.socket.write(header(method, path, lines));
    return client.readToEnd();
  }

  /** Resolves when no more sockets are open than those that listen. */
  async allClosed(): Promise<void> {
    await eventually('no connection is left', () => openSockets() <= this.before + 1);
  }

  override dispose(): void {
    for (const { socket } of this.clients) socket.destroy();
    this.peer.close();
    super.dispose();
  }
}

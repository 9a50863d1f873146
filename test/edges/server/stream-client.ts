import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { KubeletStage } from './kubelet-stage.js';

/** A client of its own connection, which reads nothing by itself. */
export class StreamClient {
  private constructor(readonly socket: TLSSocket) {
    socket.on('error', () => undefined);
  }

  static async connect(stage: KubeletStage, allowHalfOpen: boolean): Promise<StreamClient> {
    const { hostname: host, port } = stage.url;
    const options = { host, port: Number(port), rejectUnauthorized: false, allowHalfOpen };
    const socket = connectTls(options);
    await once(socket, 'secureConnect');
    return new StreamClient(socket);
  }

  /** Reads until the text has come; returns all that has come so far of this read. Errors: the connection is closed before. */
  async readUntil(text: string): Promise<string> {
    let read = '';
    while (!read.includes(text)) {
      const part = this.socket.read() as Buffer | null;
      if (part) read += part.toString('latin1');
      else if (this.socket.readableEnded || this.socket.destroyed) throw new Error(`it was closed after ${read}`);
      else await Promise.race(['readable', 'end', 'close'].map((event) => once(this.socket, event)));
    }
    return read;
  }

  /** Reads the rest, until the server ends. */
  async readToEnd(): Promise<string> {
    let read = '';
    this.socket.on('data', (part: Buffer) => (read += part.toString('latin1')));
    if (!this.socket.readableEnded && !this.socket.destroyed) {
      await Promise.race(['end', 'close'].map((event) => once(this.socket, event)));
    }
    return read;
  }

  /** Whether bytes pass in both directions. */
  async echoes(text: string): Promise<boolean> {
    this.socket.write(text);
    return (await this.readUntil(text)) === text;
  }
}

export const UPGRADE = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';
/** The text of a request. */
export const header = (
  method: string,
  path: string,
  lines: string = UPGRADE,
  token: string | undefined = 'admin',
): string =>
  `${method} ${path} HTTP/1.1\r\nHost: node:10250\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}${lines}\r\n`;

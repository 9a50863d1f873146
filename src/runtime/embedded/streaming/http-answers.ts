import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './negotiate.js';

/** Answers a request for an upgrade with an error and ends its connection. */
export const refuse = (socket: Duplex, { statusCode, message, headers = [] }: Refusal): void => {
  const body = `${message}\n`;
  const lines = [
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
};

/** Answers a request for SPDY; from then on the socket belongs to the streams. `head` is what arrived behind it. */
export const upgradeToSpdy = (socket: Duplex, head: Buffer, protocol: string): void => {
  socket.write(
    [
      'HTTP/1.1 101 Switching Protocols',
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      `X-Stream-Protocol-Version: ${protocol}`,
      '\r\n',
    ].join('\r\n'),
  );
  if (head.length > 0) socket.unshift(head);
};

/** All values of a header that may be repeated, joined with commas. */
export const headerOf = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(',') : value;
};

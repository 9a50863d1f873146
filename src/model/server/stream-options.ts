import type { StreamRefusal } from './stream-refusal.js';

/** The standard streams that a client wants. */
export interface StreamOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/**
 * Reads the standard streams of a query: each is on for the value `1` alone, and the first value counts. A terminal has no
 * stderr of its own, so that one is dropped.
 *
 * Source: staging/src/k8s.io/cri-streaming/pkg/streaming/remotecommand/httpstream.go NewOptions
 */
export const streamOptions = (query: URLSearchParams): StreamOptions | StreamRefusal => {
  const isOn = (name: string): boolean => query.get(name) === '1';
  const tty = isOn('tty');
  const options = { stdin: isOn('input'), stdout: isOn('output'), stderr: isOn('error') && !tty, tty };
  if (options.stdin || options.stdout || options.stderr) return options;
  return { status: 400, body: 'you must specify at least 1 of stdin, stdout, stderr' };
};

const MOST_PORT = 65_535n;

/**
 * Reads the ports that a WebSocket client forwards; a client of SPDY names each port in its stream, and none here. A value
 * may be a list with commas.
 *
 * Source: staging/src/k8s.io/cri-streaming/pkg/streaming/portforward/websocket.go NewV4Options
 */
export const forwardedPorts = (query: URLSearchParams, isWebSocket: boolean): readonly number[] | StreamRefusal => {
  if (!isWebSocket) return [];
  const values = query.getAll('port');
  const refuse = (body: string): StreamRefusal => ({ status: 400, body });
  if (values.length === 0) return refuse('query parameter "port" is required');
  const ports: number[] = [];
  for (const value of values) {
    if (value === '') return refuse('query parameter "port" cannot be empty');
    for (const text of value.split(',')) {
      const problem = portProblem(text);
      if (problem !== undefined) return refuse(`unable to parse ${JSON.stringify(value)} as a port: ${problem}`);
      if (Number(text) === 0) return refuse(`port ${JSON.stringify(value)} must be > 0`);
      ports.push(Number(text));
    }
  }
  return ports;
};

/** The text of Go. */
const portProblem = (text: string): string | undefined => {
  const because = (reason: string): string => `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${reason}`;
  if (!/^\d+$/.test(text)) return because('invalid syntax');
  return BigInt(text) > MOST_PORT ? because('value out of range') : undefined;
};

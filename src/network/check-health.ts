import { connect as speakHttp2 } from 'node:http2';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Observable } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { hostAndPort } from '../model/config/http-get.js';
import { HealthFailure } from '../model/probes/health-failure.js';
import type { CheckHealth, HealthCheckRequest } from '../streams/ports/check-health.js';
import type { ServerAddress } from '../streams/ports/tcp-connect.js';
import { dialErrorText } from './dial-error-text.js';
import { callHealth } from './health-call.js';

/**
 * Health checks over the sockets of this machine. Each check speaks HTTP/2 by itself: a channel of grpc-js would keep a
 * connecting socket open after the check was cancelled, until the kernel gives up.
 *
 * Source: pkg/probe/grpc/grpc.go
 */
export const checkHealth: CheckHealth = (request) =>
  new Observable((subscriber) => {
    let step: Step = 'dial';
    const fail = (error: unknown): void => subscriber.error(brokenConnection(step, error, request));
    const socket = request.isTls ? openTls(request, fail) : open(request);
    socket.once('connect', () => (step = request.isTls ? 'handshake' : 'preface'));
    socket.once('secureConnect', () => (step = 'preface'));
    const scheme = request.isTls ? 'https' : 'http';
    const session = speakHttp2(`${scheme}://${hostAndPort(request)}`, { createConnection: () => socket });
    session.on('error', fail);
    session.on('close', () => fail(new Error('EOF')));
    // Only a server that has sent its settings speaks HTTP/2.
    session.once('remoteSettings', () => {
      step = 'call';
      subscriber.next({ kind: 'connected' });
      if (!subscriber.closed) callHealth(session, request, subscriber);
    });
    return () => {
      session.destroy();
      socket.destroy();
    };
  });

const open = ({ host, port }: HealthCheckRequest): Socket => connect({ host, port, noDelay: true });

/** Like gRPC of Go, it requires a server that chooses HTTP/2. Source: google.golang.org/grpc/credentials tlsCreds ClientHandshake */
const openTls = ({ host, port }: HealthCheckRequest, fail: (error: unknown) => void): TLSSocket => {
  const servername = isIP(host) ? '' : host;
  const socket = connectTls({ host, port, servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
  socket.setNoDelay(true);
  socket.once('secureConnect', () => {
    if (socket.alpnProtocol !== 'h2') fail(new Error('credentials: cannot check peer: missing selected ALPN property'));
  });
  return socket;
};

/** A step of a check, from the connection to the call. */
type Step = 'dial' | 'handshake' | 'preface' | 'call';

/** The texts of gRPC of Go. Source: google.golang.org/grpc/internal/transport NewHTTP2Client */
const brokenConnection = (step: Step, error: unknown, to: ServerAddress): HealthFailure => {
  const detail = dialErrorText(error, to) ?? errorText(error);
  if (step === 'call')
    return new HealthFailure('call', 'Unavailable', `error reading from server: ${detail}`, { cause: error });
  const what = `${FAILED[step]}: ${detail}`;
  return new HealthFailure('connect', 'Unavailable', `connection error: desc = ${JSON.stringify(what)}`, {
    cause: error,
  });
};

const FAILED = {
  dial: 'transport: Error while dialing',
  handshake: 'transport: authentication handshake failed',
  preface: 'error reading server preface',
} as const;

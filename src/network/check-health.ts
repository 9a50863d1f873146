import { connect as speakHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { Observable } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { hostAndPort } from '../model/config/http-get.js';
import { HealthFailure, type HealthFailureStage } from '../model/probes/health-failure.js';
import type { CheckHealth } from '../streams/ports/check-health.js';
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
    const { host, port } = request;
    const socket = connect({ host, port, noDelay: true });
    const session = speakHttp2(`http://${hostAndPort(request)}`, { createConnection: () => socket });
    let stage: HealthFailureStage = 'connect';
    const fail = (error: unknown): void => subscriber.error(brokenConnection(stage, error, request));
    session.on('error', fail);
    session.on('close', () => fail(new Error('EOF')));
    // Only a server that has sent its settings speaks HTTP/2.
    session.once('remoteSettings', () => {
      stage = 'call';
      subscriber.next({ kind: 'connected' });
      if (!subscriber.closed) callHealth(session, request, subscriber);
    });
    return () => {
      session.destroy();
      socket.destroy();
    };
  });

const brokenConnection = (stage: HealthFailureStage, error: unknown, to: ServerAddress): HealthFailure => {
  const detail = dialErrorText(error, to) ?? errorText(error);
  const message =
    stage === 'call' ? `error reading from server: ${detail}` : `connection error: desc = ${JSON.stringify(detail)}`;
  return new HealthFailure(stage, 'Unavailable', message, { cause: error });
};

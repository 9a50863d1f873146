import { connect } from 'node:net';
import { Observable } from 'rxjs';
import { errorText } from '../model/cri-error.js';
import { hostAndPort } from '../model/http-get.js';
import type { TcpConnect } from '../streams/ports.js';
import { dialErrorText } from './dial-error-text.js';

/**
 * Connections over the sockets of this machine. Go's client lets a closed socket linger for a second at most (SO_LINGER); Node
 * cannot, so whatever the kernel does with sockets that were closed holds for these, too.
 *
 * Source: pkg/probe/tcp/tcp.go, pkg/probe/dialer_others.go
 */
export const tcpConnect: TcpConnect = (address) =>
  new Observable((subscriber) => {
    const socket = connect({ ...address });
    socket.on('connect', () => {
      socket.destroy();
      subscriber.complete();
    });
    socket.on('error', (error) => {
      const text = dialErrorText(error, address) ?? `dial tcp ${hostAndPort(address)}: ${errorText(error)}`;
      subscriber.error(new Error(text, { cause: error }));
    });
    return () => socket.destroy();
  });

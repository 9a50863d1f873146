import { connect } from 'node:net';
import { Observable } from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import { hostAndPort } from '../model/config/http-get.js';
import type { TcpConnect } from '../streams/ports/tcp-connect.js';
import { dialErrorText } from './dial-error-text.js';

/**
 * Connections over the sockets of this machine. Go's client sets SO_LINGER to one second. Node cannot, so closed
 * sockets linger for the time of the kernel.
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

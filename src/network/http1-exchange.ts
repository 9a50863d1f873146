import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { HttpGetRequest } from '../model/config/http-get.js';
import { DIAL_TIMEOUT, type HttpExchange, type HttpRequestLimits, MAX_HEADER_BYTES } from './http-exchange.js';

/** One GET of HTTP/1.1, with or without TLS. */
export const http1Exchange: HttpExchange = (to, limits, { answer, fail }) => {
  const request = open(to);
  const stopLimits = limitDial(request, limits, fail);
  request.on('error', (error) => {
    stopLimits();
    fail(error);
  });
  request.on('response', (response) => {
    answer({
      status: response.statusCode ?? 0,
      location: response.headers.location,
      read: (reader) => {
        response.on('data', reader.data);
        response.on('end', reader.end);
        response.on('error', reader.fail);
      },
    });
  });
  // A protocol change that was not requested is a response too.
  request.on('upgrade', ({ statusCode }, socket) => {
    socket.destroy();
    answer({ status: statusCode ?? 0, location: undefined, read: ({ end }) => end() });
  });
  request.end();
  // Later errors of the cancelled request are ignored.
  return () => void request.on('error', () => undefined).destroy();
};

/** Opens a connection that is used for one request. */
const open = ({ scheme, host, port, target, headers }: HttpGetRequest): ClientRequest => {
  const options = {
    host,
    port,
    path: target,
    method: 'GET',
    agent: false as const,
    headers: headers.flatMap(([name, value]) => [name, value]),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Some small servers end lines with a line feed alone; Go accepts that.
    insecureHTTPParser: true,
  };
  if (scheme === 'http') return requestHttp(options);
  // The name in the URL, regardless of the header Host.
  return requestHttps({ ...options, rejectUnauthorized: false, servername: isIP(host) ? '' : host });
};

/** Cancels a connection that is not established in time. Returns a function that stops the timers. */
const limitDial = (
  request: ClientRequest,
  { dialMs, tlsHandshakeMs }: Required<HttpRequestLimits>,
  giveUp: (detail: string) => void,
): (() => void) => {
  let timer = setTimeout(() => giveUp(DIAL_TIMEOUT), dialMs);
  const stop = () => clearTimeout(timer);
  request.on('close', stop);
  request.on('socket', (socket) => {
    socket.on('connect', () => {
      stop();
      if (!('encrypted' in socket)) return;
      timer = setTimeout(() => giveUp('net/http: TLS handshake timeout'), tlsHandshakeMs);
      socket.on('secureConnect', stop);
    });
  });
  return stop;
};

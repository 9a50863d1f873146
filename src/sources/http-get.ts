import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Observable } from 'rxjs';
import type { HttpReply } from '../model/fold-http-reply.js';
import { MANIFEST_LIMIT_BYTES } from './manifest-files.js';

/** Header names to one value or several. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * One GET: emits the whole reply and completes; unsubscribing aborts it.
 *
 * Errors: of the transport, and a body of more than 10 MiB.
 */
export const httpGet = (url: string, headers: HttpHeaders): Observable<HttpReply> =>
  new Observable((subscriber) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const values = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    );
    // A connection per poll: between two polls lie more seconds than servers keep idle connections.
    const request = send(url, { headers: values, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= MANIFEST_LIMIT_BYTES) return;
        subscriber.error(new Error(`the body is larger than ${MANIFEST_LIMIT_BYTES} bytes, the limit of manifests`));
      });
      response.on('error', (error) => subscriber.error(error));
      response.on('end', () => {
        const { statusCode: status = 0, statusMessage = '' } = response;
        const body = Buffer.concat(chunks).toString('utf8');
        subscriber.next({ status, statusLine: `${status} ${statusMessage}`.trim(), body });
        subscriber.complete();
      });
    });
    request.on('error', (error) => subscriber.error(error));
    request.end();
    return () => request.destroy();
  });

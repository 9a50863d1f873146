import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Observable } from 'rxjs';
import type { HttpReply } from '../model/config/fold-http-reply.js';
import { decodeManifest } from '../model/manifest/decode-manifest.js';
import { MANIFEST_LIMIT_BYTES } from './manifest-files.js';

/** Header names to one value or several. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Sends one GET: emits the whole reply and completes; unsubscribing aborts it.
 *
 * Errors: an error of the transport, a body of more than 10 MiB, a body that is not UTF-8.
 */
export const httpGet = (url: string, headers: HttpHeaders): Observable<HttpReply> =>
  new Observable((subscriber) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const values = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    );
    // A new connection for each poll: the time between two polls is longer than servers keep idle connections.
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
        const statusLine = `${status} ${statusMessage}`.trim();
        const decoded = decodeManifest(Buffer.concat(chunks));
        if ('problem' in decoded && status === 200) subscriber.error(new Error(`the body ${decoded.problem}`));
        else subscriber.next({ status, statusLine, body: 'text' in decoded ? decoded.text : '' });
        subscriber.complete();
      });
    });
    request.on('error', (error) => subscriber.error(error));
    request.end();
    return () => request.destroy();
  });

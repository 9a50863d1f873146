import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { CertificateSigningRequest } from '../../../src/model/certificates/signing-request.js';
import { type Answer, json, type Seen } from './api-stage.js';

export interface AskedRequest extends CertificateSigningRequest {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly request: string; readonly signerName: string; readonly usages: readonly string[] };
  /** The token or the common name of the client. */
  readonly from: string;
}

/** An API server with CertificateSigningRequests only; every client may create them. */
export interface CsrServer {
  readonly answer: Answer;
  readonly requests: ReadonlyMap<string, AskedRequest>;
  /** Sets the status of a request, and sends that to all watches. */
  readonly decide: (name: string, status: NonNullable<CertificateSigningRequest['status']>) => void;
}

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** `decideLater` receives each new request, after its answer. */
export const csrServer = (asked: (request: AskedRequest) => void = () => undefined): CsrServer => {
  const requests = new Map<string, AskedRequest>();
  const watches = new Map<ServerResponse, string>();
  let version = 0;
  const nextVersion = (): string => String((version += 1));

  const create = ({ body, headers, from }: Seen, response: ServerResponse): void => {
    const { metadata, spec } = JSON.parse(body) as {
      readonly metadata: { readonly name?: string; readonly generateName?: string };
      readonly spec: AskedRequest['spec'];
    };
    const name = metadata.name ?? `${metadata.generateName}${requests.size + 1}`;
    if (requests.has(name)) return json(response, 409, { kind: 'Status', reason: 'AlreadyExists', message: 'there' });
    const request: AskedRequest = {
      metadata: { name, uid: randomUUID(), resourceVersion: nextVersion() },
      spec,
      from: headers.authorization?.replace('Bearer ', '') ?? from,
    };
    requests.set(name, request);
    json(response, 201, request);
    asked(request);
  };

  const answer: Answer = (seen, response) => {
    const url = new URL(seen.line.split(' ')[1] ?? '', 'https://server');
    if (!url.pathname.startsWith(PATH)) return json(response, 200, { kind: 'Who', from: seen.from });
    if (seen.line.startsWith('POST')) return create(seen, response);
    const name = url.searchParams.get('fieldSelector')?.replace('metadata.name=', '') ?? url.pathname.split('/').at(-1);
    const found = requests.get(name ?? '');
    if (url.searchParams.get('watch') !== 'true') {
      if (!url.searchParams.has('fieldSelector')) return json(response, found ? 200 : 404, found ?? { kind: 'Status' });
      return json(response, 200, {
        metadata: { resourceVersion: String(version) },
        items: found ? [found] : [],
      });
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    watches.set(response, name ?? '');
    response.on('close', () => watches.delete(response));
    // What was decided between the list and the watch.
    if (found && Number(found.metadata.resourceVersion) > Number(url.searchParams.get('resourceVersion'))) {
      response.write(`${JSON.stringify({ type: 'MODIFIED', object: found })}\n`);
    }
  };

  return {
    answer,
    requests,
    decide: (name, status) => {
      const request = requests.get(name);
      if (!request) throw new Error(`there is no request ${name}`);
      const object = { ...request, metadata: { ...request.metadata, resourceVersion: nextVersion() }, status };
      requests.set(name, object);
      for (const [response, watched] of watches) {
        if (watched === name) response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      }
    },
  };
};

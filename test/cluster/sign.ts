import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { ApiObject } from '../../src/model/kube-api/api-object.js';
import { certificateSigningRequestPath, certificateSigningRequestsPath } from '../../src/model/kube-api/api-paths.js';
import { eventually } from '../embedded/eventually.js';
import { type Cluster, stageScript } from './cluster.js';

export interface SigningRequest extends ApiObject {
  readonly spec: {
    readonly request: string;
    readonly signerName: string;
    readonly username: string;
    readonly usages: readonly string[];
  };
  readonly status?: { readonly certificate?: string };
}

/** Approves and signs a request, as controllers do that this cluster does not have. */
export const sign = async ({ admin, folder }: Cluster, request: SigningRequest, seconds: number): Promise<void> => {
  const kind = request.spec.usages.includes('server auth') ? 'server' : 'client';
  const path = certificateSigningRequestPath(request.metadata.name ?? '');
  const approved = { type: 'Approved', status: 'True', reason: 'ByTest', message: 'by the test' };
  await admin.patch(`${path}/approval`, { status: { conditions: [approved] } }, 'merge');
  const signing = spawn(stageScript('sign.sh'), [folder, String(seconds), kind], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  signing.stdin.end(Buffer.from(request.spec.request, 'base64'));
  const [pem, [code]] = await Promise.all([text(signing.stdout), once(signing, 'exit') as Promise<[number]>]);
  if (code !== 0) throw new Error(`the request is not signed: exit code ${code}`);
  await admin.patch(`${path}/status`, { status: { certificate: Buffer.from(pem).toString('base64') } }, 'merge');
};

/** Waits for an unanswered request of a user. */
export const requestOf = ({ admin }: Cluster, username: string, timeoutMs?: number): Promise<SigningRequest> =>
  eventually(
    `${username} requests a certificate`,
    async () => {
      const requests = await admin.list<SigningRequest>(certificateSigningRequestsPath());
      const found = requests.find(
        ({ spec, status }) => spec.username === username && status?.certificate === undefined,
      );
      if (found) return found;
      // An agent whose certificate has expired asks by its token instead: the failure shows it.
      const users = requests.map(
        ({ spec, status }) => `${spec.username}${status?.certificate === undefined ? '' : ' (signed)'}`,
      );
      throw new Error(`there are those of ${users.join(', ')}`);
    },
    timeoutMs,
  );

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect } from 'vitest';
import { apiOverHttp } from './api-over-http.js';
import { freePort, it, NODE_NAME } from './daemon.js';
import { joined } from './joined.js';

it('an agent of a cluster without --client-ca-file says at its start what is missing and which flag mends it', async ({
  daemon,
}) => {
  const api = await apiOverHttp(NODE_NAME);
  try {
    const args = ['--kubeconfig', joined(daemon.directory, api.url), '--port', String(await freePort())];
    const remedy = 'kubectl gets no logs, exec or port-forward of this node: --client-ca-file names the authority';
    await daemon.start(...args);
    expect(daemon.log.split(remedy)).toHaveLength(2);
    await daemon.kill('SIGTERM');

    const authority = join(daemon.directory, 'ca.crt');
    writeFileSync(authority, rootCertificates[0] ?? '');
    const before = daemon.log.length;
    await daemon.start(...args, '--client-ca-file', authority);
    expect(daemon.log.slice(before)).not.toContain(remedy);
    await daemon.kill('SIGTERM');
  } finally {
    api.close();
  }
}, 240_000);

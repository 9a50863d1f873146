// furnish.mjs FOLDER: makes what a cluster has that a controller manager would have made. Ends with another exit code than 0
// while the API server does not serve yet; running it again changes nothing.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

const folder = process.argv[2];
const pki = (name) => readFileSync(join(folder, 'pki', name));
const credentials = { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
const port = Number(readFileSync(join(folder, 'kube-apiserver.port'), 'utf8'));

const ask = (method, path, body) =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const asked = request(
      { host: '127.0.0.1', port, method, path, headers, timeout: 5000, ...credentials },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8').on('data', (part) => (text += part));
        reply.on('end', () => resolve({ status: reply.statusCode, text })).on('error', reject);
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('no answer within 5 s'))).on('error', reject);
    asked.end(body && JSON.stringify(body));
  });

/** Creates what is not there. */
const create = async (path, body) => {
  const { status, text } = await ask('POST', path, body);
  if (status !== 409 && status >= 300) throw new Error(`POST ${path}: ${status} ${text}`);
};

const { status, text } = await ask('GET', '/readyz').catch((error) => ({ status: 0, text: error.message }));
if (status !== 200) {
  console.error(`not ready: ${status} ${text}`);
  process.exit(1);
}

// Pods get no token mounted: this server would look for a Secret that a controller makes.
await create('/api/v1/namespaces/default/serviceaccounts', {
  metadata: { name: 'default', namespace: 'default' },
  automountServiceAccountToken: false,
});
// A user with a bootstrap token may ask for a certificate.
await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
  metadata: { name: 'stage:node-bootstrapper' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' }],
});
